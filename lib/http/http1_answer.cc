#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "http/http1_server.h"
#include "http/tokens.h"

// The answers of Http1Server: heads, bodies, and the tunnels that upgrades open.
namespace apiserver::v0::http {
namespace {

constexpr std::size_t kChunkBytes = 0xffff;

// Appends the text behind the code in the status line.
void AppendReason(std::string& out, const ResponseHead& head) {
  if (head.reason_phrase.empty()) {
    out += ReasonPhrase(head.code);
  } else {
    AppendSafe(out, head.reason_phrase);
  }
}

}  // namespace

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
      // The head of an upgrade is a write of its own, too.
      if (answer_ == Answer::kTunnel) return;
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

// Moves a piece of a tunnel to `out`. Returns whether there may be more to do in this write.
//
// Every piece is a write of its own, and so a TLS record of its own, as at a Go server: Python's
// client of port-forwards (kubernetes 22.6) reads one frame whenever its socket becomes readable,
// and would not see a second one of the same record before the peer sends more.
bool Http1Server::PullTunnel(std::string& out, std::size_t limit) {
  if (answer_ != Answer::kTunnel) return false;
  if (const std::size_t sent = tunnel_out_->TakePieceTo(out, limit)) {
    exchange_->CountSent(sent);
    GuardTunnel([&] { tunnel_->Sent(sent); });
    return false;
  }
  if (!pouring_ || source_waits_) return false;
  const auto filled = exchange_->FillTo(out, limit - out.size());
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
  const auto filled = exchange_->FillTo(out, limit - out.size());
  return Filled(filled.state, out);
}

// Leaves room for the size in front of the data and puts it there afterwards, as the size is known
// only then.
bool Http1Server::PullChunk(std::string& out, std::size_t room) {
  constexpr std::size_t kSizeBytes = 6;  // Four digits, CRLF.
  const std::size_t before = out.size();
  room = std::min(std::max<std::size_t>(room, 1024), kChunkBytes);
  out.resize(before + kSizeBytes);
  const auto filled = exchange_->FillTo(out, room);
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

}  // namespace apiserver::v0::http
