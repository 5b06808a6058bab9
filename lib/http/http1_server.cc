#include "http/http1_server.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0::http {
namespace {

// Limits input that is kept while it cannot be used yet: pipelined requests, an unread body.
constexpr std::size_t kReadAheadBytes = 64 << 10;
// How long a new connection stays open for its first request although the server drains: clients
// repeat a request whose kept connection was closed, but not the first one of a connection.
constexpr auto kFirstRequestTime = std::chrono::milliseconds(1000);

}  // namespace

void Http1Server::Receive(std::string_view bytes) {
  if (in_.empty()) {
    in_.append(bytes.substr(Process(bytes)));
  } else {
    in_.append(bytes);
    ProcessLeftover();
  }
}

std::size_t Http1Server::Process(std::string_view in) {
  std::size_t used = 0;
  do {
    processing_ = true;
    used += ProcessSome(in.substr(used));
    processing_ = false;
    // An answer that was given meanwhile has waited: the rest of the body may be in the same input.
    if (!std::exchange(answer_waits_, false) || !exchange_) break;
    OnAnswer();
  } while (used < in.size());
  return used;
}

// Input that could not be used when it came: the next request of a pipeline, or what a paused
// tunnel left.
void Http1Server::ProcessLeftover() {
  const std::size_t used = Process(in_);
  if (used == in_.size()) {
    std::exchange(in_, {}).clear();
  } else {
    in_.erase(0, used);
  }
}

// A tunnel's peer may end its direction and still be written to.
bool Http1Server::OnReadEnd() {
  if (answer_ != Answer::kTunnel) return false;
  read_ended_ = true;
  TellReadEnd();
  return true;
}

void Http1Server::TellReadEnd() {
  if (!read_ended_ || state_ != State::kOpen || !in_.empty() || !tunnel_->reading()) return;
  GuardTunnel([&] { tunnel_->TellEnd(); });
  if (write_ended_) Finish();
}

std::size_t Http1Server::ProcessSome(std::string_view in) {
  std::size_t used = 0;
  while (state_ == State::kOpen && used < in.size()) {
    const std::string_view rest = in.substr(used);
    std::size_t step = 0;
    if (answer_ == Answer::kTunnel) {
      if (!tunnel_->reading()) break;
      GuardTunnel([&] { tunnel_->TellData(rest); });
      step = rest.size();
    } else if (!body_.done()) {
      step = ProcessBody(rest);
    } else if (!exchange_) {
      step = ProcessHead(rest);
    }
    if (step == 0) break;
    used += step;
  }
  return used;
}

std::size_t Http1Server::ProcessHead(std::string_view in) {
  if (!head_begun_) {
    // An empty line before a request (RFC 9112, 2.2), of which only one byte may be here.
    if (in.starts_with("\r\n")) return 2;
    if (in == "\r") return 0;
  }
  if (!std::exchange(head_begun_, true)) waiting_since_ = wire_.loop()->now();
  switch (scanner_.Scan(in)) {
    case HeadScanner::Verdict::kIncomplete:
      return 0;
    case HeadScanner::Verdict::kBad:
      Refuse(400);
      return 0;
    case HeadScanner::Verdict::kTooLarge:
      Refuse(431);
      return 0;
    case HeadScanner::Verdict::kComplete:
      break;
  }
  const std::size_t size = scanner_.size();
  scanner_.Reset();
  head_begun_ = false;
  auto asked = std::make_unique<Asked>();
  Framing framing;
  if (ParseRequestHead(in.substr(0, size), asked->request, framing)) {
    Begin(std::move(asked), framing);
  } else {
    Refuse(400);
  }
  return size;
}

void Http1Server::Begin(std::unique_ptr<Asked> asked, const Framing& framing) {
  Request& request = asked->request;
  first_ = false;
  request.remote_address = origin_.remote_address;
  request.peer = origin_.peer;
  request.tls = origin_.tls;
  close_after_ = !framing.keep_alive;
  http10_ = framing.minor == 0;
  head_only_ = request.method == "HEAD";
  expect_continue_ = framing.expect_continue && !http10_;
  body_ = BodyDecoder::ForRequest(framing);
  discarded_ = 0;
  ExchangeDriver::Setup setup;
  setup.loop = wire_.loop();
  setup.service = config_->service;
  setup.asked = std::move(asked);
  setup.body = {!body_.done(), framing.length};
  exchange_ = std::make_shared<ExchangeDriver>(std::move(setup));
  exchange_->Start(*this);
}

std::size_t Http1Server::ProcessBody(std::string_view in) {
  // Until the body is wanted it stays in the buffer; a full buffer is not read, which slows the
  // client.
  const bool nobody_reads = exchange_ && !exchange_->body_wanted();
  if (nobody_reads && exchange_->unread_body() >= config_->options.body_buffer_bytes) return 0;
  std::string_view data;
  const std::size_t used = body_.Decode(in, data);
  // A client that sends its body unasked needs no 100 Continue.
  if (used > 0) expect_continue_ = false;
  if (body_.bad()) {
    if (exchange_) exchange_->PeerGone(Status(Reason::kBadRequest, "malformed request body"));
    exchange_.reset();
    Refuse(400);
    return used;
  }
  if (const auto exchange = exchange_) {
    // Its reader may end the exchange.
    if (!data.empty()) exchange->BodyData(data);
    if (body_.done()) exchange->BodyEnd();
    return used;
  }
  // The answer is complete. The rest of the body is dropped, so that the connection can be used
  // again.
  discarded_ += used;
  if (discarded_ > kDiscardBytesMax) {
    linger_ = true;
    Finish();
  }
  return used;
}

// Answers a request that cannot be understood, and closes: the end of such a request is not known,
// so that no bytes after it can be trusted.
void Http1Server::Refuse(int code) {
  if (answer_ == Answer::kNone) {
    const std::string line = std::to_string(code) + " " + std::string(ReasonPhrase(code));
    control_ += "HTTP/1.1 " + line +
                "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n"
                "Content-Length: " +
                std::to_string(line.size()) + "\r\n\r\n" + line;
  }
  linger_ = true;
  Finish();
}

void Http1Server::Finish() {
  if (state_ == State::kOpen) state_ = State::kFinished;
  wire_.MarkDirty();
}

bool Http1Server::wants_read() const {
  if (answer_ == Answer::kTunnel) {
    return tunnel_->reading() || (!tunnel_->started() && in_.size() < kReadAheadBytes);
  }
  return in_.size() < kReadAheadBytes || (!exchange_ && body_.done());
}

std::optional<Clock::Monotonic> Http1Server::deadline() const {
  // A request in progress has deadlines of its own; these are for waiting.
  if (exchange_) return std::nullopt;
  if (head_begun_ || first_) return waiting_since_ + config_->options.header_timeout;
  return waiting_since_ + config_->options.idle_timeout;
}

void Http1Server::Drain() {
  draining_ = true;
  if (exchange_ || head_begun_ || !body_.done()) return;
  drain_until_ = wire_.loop()->now() + config_->options.idle_drain;
  if (first_) drain_until_ = std::max(*drain_until_, waiting_since_ + kFirstRequestTime);
  wire_.MarkDirty();
}

std::optional<Clock::Monotonic> Http1Server::wake_at() const {
  return exchange_ || head_begun_ ? std::nullopt : drain_until_;
}

void Http1Server::OnClosed(const Status& why) {
  state_ = State::kBroken;
  if (const auto tunnel = std::move(tunnel_)) {
    const Status lost = why.ok() ? Status(Reason::kServiceUnavailable, "connection closed") : why;
    GuardTunnel([&] { tunnel->Gone(std::move(in_), read_ended_ ? Status::Ok() : lost); });
    GuardTunnel([&] { tunnel->Sent(tunnel_out_->size()); });
  }
  if (const auto exchange = std::move(exchange_)) {
    if (answer_ == Answer::kTunnel) {
      exchange->AnswerOver(true);
    } else {
      exchange->PeerGone(why.ok() ? Status(Reason::kServiceUnavailable, "connection closed") : why);
    }
  }
}

std::unique_ptr<Protocol> NewHttp1Server(Wire& wire, std::shared_ptr<const ServerConfig> config,
                                         Origin origin) {
  return std::make_unique<Http1Server>(wire, std::move(config), std::move(origin));
}

}  // namespace apiserver::v0::http
