#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <utility>

#include "http/driver.h"
#include "http/http1_body.h"
#include "http/http1_head.h"
#include "http/server_config.h"
#include "http/tokens.h"
#include "http/tunnel.h"

namespace apiserver::v0::http {
namespace {

// Limits input that is kept while it cannot be used yet: pipelined requests, an unread body.
constexpr std::size_t kReadAheadBytes = 64 << 10;
// Limits how much of an unwanted body is read to keep the connection, as in Go's net/http.
constexpr std::uint64_t kDiscardBytesMax = 256 << 10;
// How long a new connection stays open for its first request although the server drains: clients
// repeat a request whose kept connection was closed, but not the first one of a connection.
constexpr auto kFirstRequestTime = std::chrono::milliseconds(1000);
constexpr std::size_t kChunkBytes = 0xffff;

// Appends the text behind the code in the status line.
void AppendReason(std::string& out, const ResponseHead& head) {
  if (head.reason_phrase.empty()) {
    out += ReasonPhrase(head.code);
  } else {
    AppendSafe(out, head.reason_phrase);
  }
}

// The requests of one connection, one at a time.
class Http1Server final : public Protocol, public ServerStream, public TunnelEnd {
 public:
  Http1Server(Wire& wire, std::shared_ptr<const ServerConfig> config, Origin origin)
      : wire_(wire),
        config_(std::move(config)),
        origin_(std::move(origin)),
        scanner_(config_->options.header_bytes_max, config_->options.header_fields_max),
        waiting_since_(wire.loop()->now()) {}

  // --- Protocol.
  void Receive(std::string_view bytes) override;
  void Produce(std::string& out, std::size_t limit) override;
  State state() const override { return state_; }
  bool wants_read() const override;
  bool linger() const override { return linger_; }
  bool OnReadEnd() override;
  bool write_ended() const override;
  std::optional<Clock::Monotonic> deadline() const override;
  void Drain() override;
  std::optional<Clock::Monotonic> wake_at() const override;
  void OnClosed(const Status& why) override;

  // --- ServerStream.
  void OnAnswer() override;
  void OnBodyReady() override {
    source_waits_ = false;
    wire_.MarkDirty();
  }
  void OnBodyWanted() override;
  void OnBodyConsumed(std::size_t /*bytes*/) override {
    process_again_ = true;
    wire_.MarkDirty();
  }
  void Cut() override;

  // --- TunnelEnd.
  void OnTunnelRead() override {
    process_again_ = true;
    wire_.MarkDirty();
  }
  void OnTunnelWrite(std::string bytes) override;
  void OnTunnelPour(std::unique_ptr<BodySource> body) override;
  void OnTunnelCloseWrite() override;
  void OnTunnelClose() override {
    linger_ = !read_ended_;
    Finish();
  }
  void OnTunnelCancel() override {
    state_ = State::kBroken;
    wire_.MarkDirty();
  }

 private:
  enum class Answer { kNone, kBody, kTunnel };

  std::size_t Process(std::string_view in);
  std::size_t ProcessSome(std::string_view in);
  std::size_t ProcessHead(std::string_view in);
  std::size_t ProcessBody(std::string_view in);
  void ProcessLeftover();
  void TellReadEnd();
  void Begin(Request request, const Framing& framing);
  void Refuse(int code);
  void Finish();
  void WriteHead(const ResponseHead& head, ExchangeDriver::Kind kind);
  void WriteVerbatim(const ResponseHead& head);
  void OpenTunnel();
  template <class Call>
  void GuardTunnel(Call call);
  bool PullBody(std::string& out, std::size_t limit);
  bool PullTunnel(std::string& out, std::size_t limit);
  bool PullChunk(std::string& out, std::size_t room);
  bool Filled(ExchangeDriver::FillState fill, std::string& out);
  void AnswerDone();
  void NextRequest();

  Wire& wire_;
  const std::shared_ptr<const ServerConfig> config_;
  const Origin origin_;
  State state_ = State::kOpen;
  HeadScanner scanner_;
  std::string in_;  // Received, not yet used.
  bool head_begun_ = false;
  bool first_ = true;
  Clock::Monotonic waiting_since_;  // The start of waiting for a head, or for its first byte.

  std::shared_ptr<ExchangeDriver> exchange_;
  BodyDecoder body_;
  std::uint64_t discarded_ = 0;
  bool expect_continue_ = false;
  bool close_after_ = false;
  bool head_only_ = false;
  bool http10_ = false;
  bool draining_ = false;
  std::optional<Clock::Monotonic> drain_until_;  // When an idle connection closes.
  bool linger_ = false;

  Answer answer_ = Answer::kNone;
  bool processing_ = false;
  bool answer_waits_ = false;  // Until what was received is processed.
  bool chunked_ = false;
  bool source_waits_ = false;
  bool process_again_ = false;
  std::string control_;  // Heads, before the body.
  std::shared_ptr<TunnelLink> tunnel_;
  std::optional<TunnelQueue> tunnel_out_;
  bool pouring_ = false;
  bool read_ended_ = false;   // The tunnel's peer has sent its last.
  bool write_ended_ = false;  // So has this side.
};

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
  Request request;
  Framing framing;
  if (ParseRequestHead(in.substr(0, size), request, framing)) {
    Begin(std::move(request), framing);
  } else {
    Refuse(400);
  }
  return size;
}

void Http1Server::Begin(Request request, const Framing& framing) {
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
  setup.request = std::move(request);
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

void Http1Server::OnBodyWanted() {
  if (!std::exchange(expect_continue_, false)) return;
  control_ += "HTTP/1.1 100 Continue\r\n\r\n";
  wire_.MarkDirty();
}

// A body that ends early can only be told from a complete one by a connection that breaks.
void Http1Server::Cut() {
  state_ = State::kBroken;
  if (const auto exchange = std::move(exchange_)) exchange->AnswerOver(false);
  wire_.MarkDirty();
}

void Http1Server::OnAnswer() {
  if (exchange_->kind() == ExchangeDriver::Kind::kUpgrade) return OpenTunnel();
  if (processing_ && !body_.done()) {
    // The body may have come whole with the head.
    answer_waits_ = true;
    return;
  }
  answer_ = Answer::kBody;
  source_waits_ = false;
  // A body without a length may be too long to discard: the client must know before it sends more.
  // One whose rest has not come in time, which 408 says (RFC 9110, 15.5.9), is not waited for.
  const bool known = body_.mode() == BodyDecoder::Mode::kLength &&
                     body_.left() <= kDiscardBytesMax && exchange_->head().code != 408;
  const bool unread_for_good = expect_continue_ || (!body_.done() && !known);
  close_after_ |= draining_ || unread_for_good || exchange_->head().close_connection;
  for (const std::string_view value : exchange_->head().headers.GetAll("Connection")) {
    close_after_ |= HasToken(value, "close");
  }
  WriteHead(exchange_->head(), exchange_->kind());
  wire_.MarkDirty();
}

void Http1Server::WriteHead(const ResponseHead& head, ExchangeDriver::Kind kind) {
  std::string& out = control_;
  std::array<char, 16> digits{};
  out += "HTTP/1.1 ";
  out.append(digits.data(), std::to_chars(digits.begin(), digits.end(), head.code).ptr);
  out += ' ';
  AppendReason(out, head);
  out += "\r\n";
  // The framing belongs to the transport: headers of the answer that could contradict it are
  // dropped.
  for (const Headers::Field& field : head.headers) {
    if (IsTransportHeader(field.name) || !IsToken(field.name)) continue;
    out += field.name;
    out += ": ";
    AppendSafe(out, field.value);
    out += "\r\n";
  }
  out += "Date: ";
  out += wire_.loop()->Date();
  const bool bodiless = head.code == 204 || head.code == 304;
  const bool stream = kind == ExchangeDriver::Kind::kStream;
  const std::optional<std::uint64_t> length = exchange_->announced_bytes();
  chunked_ = stream && !bodiless && !http10_ && !length;
  if (length && !bodiless) {
    out += "\r\nContent-Length: ";
    out += std::to_string(*length);
  } else if (chunked_) {
    out += "\r\nTransfer-Encoding: chunked";
  } else if (kind == ExchangeDriver::Kind::kUpgrade) {
    out += "\r\nConnection: Upgrade";
  } else if (stream && !bodiless) {
    close_after_ = true;  // HTTP/1.0: the body ends where the connection does.
  }
  if (close_after_) out += "\r\nConnection: close";
  // HTTP/1.0 closes unless both sides say that they do not.
  if (http10_ && !close_after_) out += "\r\nConnection: keep-alive";
  out += "\r\n\r\n";
  head_only_ |= bodiless;
}

// Writes a head that another server has answered. It was checked when it was given.
void Http1Server::WriteVerbatim(const ResponseHead& head) {
  control_ += "HTTP/1.1 " + std::to_string(head.code) + " ";
  AppendReason(control_, head);
  control_ += "\r\n";
  for (const Headers::Field& field : head.headers) {
    control_ += field.name + ": " + field.value + "\r\n";
  }
  control_ += "\r\n";
}

void Http1Server::OpenTunnel() {
  answer_ = Answer::kTunnel;
  auto on_open = exchange_->TakeOnOpen();
  const ResponseHead& head = exchange_->head();
  if (head.verbatim) {
    WriteVerbatim(head);
  } else {
    WriteHead(head, ExchangeDriver::Kind::kUpgrade);
  }
  tunnel_ = std::make_shared<TunnelLink>(wire_.loop(), *this);
  tunnel_out_.emplace(exchange_->memory()->output, exchange_->tenant());
  wire_.MarkDirty();
  GuardTunnel([&] { on_open(NewTunnel(tunnel_)); });
}

// The callbacks of a tunnel are the host's; nothing they throw may reach the loop.
template <class Call>
void Http1Server::GuardTunnel(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    Log(*config_->options.log, LogLevel::kError, "exception in a tunnel",
        {{"error", error.what()}});
    Finish();
  }
}

void Http1Server::OnTunnelWrite(std::string bytes) {
  // Bytes that cannot be sent count as sent: their writer waits for the room they take.
  if (state_ != State::kOpen || write_ended_) return tunnel_->Sent(bytes.size());
  tunnel_out_->Push(std::move(bytes));
  wire_.MarkDirty();
}

void Http1Server::OnTunnelCloseWrite() {
  write_ended_ = true;
  if (tunnel_->end_told()) return Finish();
  wire_.MarkDirty();
}

bool Http1Server::write_ended() const {
  return write_ended_ && control_.empty() && tunnel_out_->size() == 0;
}

void Http1Server::OnTunnelPour(std::unique_ptr<BodySource> body) {
  if (state_ != State::kOpen) return;
  exchange_->Pour(std::move(body));
  pouring_ = true;
  source_waits_ = false;
  wire_.MarkDirty();
}

void Http1Server::Produce(std::string& out, std::size_t limit) {
  if (state_ == State::kBroken) return;
  if (const auto until = wake_at(); until && wire_.loop()->now() >= *until) {
    drain_until_.reset();  // Once: this is run for as long as there is something to finish.
    Finish();
  }
  for (;;) {
    if (!control_.empty()) {
      out += control_;
      std::exchange(control_, {}).clear();
    }
    if (out.size() >= limit) return;
    if (std::exchange(process_again_, false)) {
      ProcessLeftover();
      if (answer_ == Answer::kTunnel) TellReadEnd();
      continue;
    }
    const bool body = answer_ == Answer::kBody;
    if (body ? !PullBody(out, limit) : !PullTunnel(out, limit)) return;
  }
}

// Moves bytes of a tunnel to `out`. Returns whether there may be more to do.
bool Http1Server::PullTunnel(std::string& out, std::size_t limit) {
  if (answer_ != Answer::kTunnel) return false;
  if (const std::size_t sent = tunnel_out_->TakeTo(out, limit)) {
    exchange_->CountSent(sent);
    GuardTunnel([&] { tunnel_->Sent(sent); });
    return true;
  }
  if (!pouring_ || source_waits_) return false;
  const std::size_t before = out.size();
  out.resize(limit);
  const auto filled = exchange_->Fill({out.data() + before, limit - before});
  out.resize(before + filled.bytes);
  if (filled.state == ExchangeDriver::FillState::kEnd) {
    pouring_ = false;
    linger_ = true;
    Finish();
    return false;
  }
  return Filled(filled.state, out);
}

// Moves bytes of an answer to `out`. Returns whether there may be more to do.
bool Http1Server::PullBody(std::string& out, std::size_t limit) {
  if (head_only_) {
    AnswerDone();
    return true;
  }
  if (source_waits_) return false;
  if (chunked_) return PullChunk(out, limit - out.size());
  const std::size_t before = out.size();
  const std::size_t room =
      std::min(limit - before,
               exchange_->kind() == ExchangeDriver::Kind::kSend ? exchange_->unsent_body() : limit);
  out.resize(before + room);
  const auto filled = exchange_->Fill({out.data() + before, room});
  out.resize(before + filled.bytes);
  return Filled(filled.state, out);
}

// Leaves room for the size in front of the data and puts it there afterwards, as the size is known
// only then.
bool Http1Server::PullChunk(std::string& out, std::size_t room) {
  constexpr std::size_t kSizeBytes = 6;  // Four digits, CRLF.
  const std::size_t before = out.size();
  room = std::min(std::max<std::size_t>(room, 1024), kChunkBytes);
  out.resize(before + kSizeBytes + room);
  const auto filled = exchange_->Fill({out.data() + before + kSizeBytes, room});
  out.resize(before + kSizeBytes + filled.bytes);
  if (filled.bytes == 0) {
    out.resize(before);
  } else {
    std::array<char, 8> size{};
    const auto end = std::to_chars(size.begin(), size.end(), filled.bytes, 16).ptr;
    std::string text(size.data(), end);
    text += "\r\n";
    out.replace(before, kSizeBytes, text);
    out += "\r\n";
  }
  return Filled(filled.state, out);
}

bool Http1Server::Filled(ExchangeDriver::FillState fill, std::string& out) {
  switch (fill) {
    case ExchangeDriver::FillState::kData:
      return true;
    case ExchangeDriver::FillState::kWait:
      source_waits_ = true;
      return false;
    case ExchangeDriver::FillState::kEnd:
      if (chunked_) out += "0\r\n\r\n";
      AnswerDone();
      return true;
    case ExchangeDriver::FillState::kAbort:
      Cut();
      return false;
  }
  return false;
}

void Http1Server::AnswerDone() {
  const auto exchange = std::move(exchange_);
  answer_ = Answer::kNone;
  exchange->AnswerOver(true);
  if (close_after_ || draining_) {
    // A close while the client still sends would be a reset, which can take the answer with it.
    linger_ = !body_.done() || !in_.empty();
    return Finish();
  }
  NextRequest();
}

void Http1Server::NextRequest() {
  waiting_since_ = wire_.loop()->now();
  process_again_ = !in_.empty();
}

}  // namespace

std::unique_ptr<Protocol> NewHttp1Server(Wire& wire, std::shared_ptr<const ServerConfig> config,
                                         Origin origin) {
  return std::make_unique<Http1Server>(wire, std::move(config), std::move(origin));
}

}  // namespace apiserver::v0::http
