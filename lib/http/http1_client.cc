#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "http/client_protocol.h"
#include "http/http1_body.h"
#include "http/http1_head.h"
#include "http/tokens.h"

namespace apiserver::v0::http {
namespace {

// The least room for a chunk, so that the end of a buffer does not make tiny ones.
constexpr std::size_t kChunkBytesMin = 1024;

// Requests one after another on a connection; each waits for the answer to the one before.
class Http1Client final : public ClientProtocol {
 public:
  Http1Client(Wire& wire, ClientSetup setup) : wire_(wire), setup_(std::move(setup)) {}

  void Receive(std::string_view bytes) override;
  void Produce(std::string& out, std::size_t limit) override;
  State state() const override { return state_; }
  bool wants_read() const override { return withheld_ == 0; }
  std::optional<Clock::Monotonic> deadline() const override { return std::nullopt; }
  void Drain() override { Finish(); }
  bool OnReadEnd() override;
  bool write_ended() const override {
    return current_ && current_->raw && current_->streamed && current_->write_ended;
  }
  void OnClosed(const Status& why) override;

  void Start(std::shared_ptr<ClientCall> call) override {
    waiting_.push_back(std::move(call));
    wire_.MarkDirty();
  }
  void Abort(const std::shared_ptr<ClientCall>& call, const Status& why) override;
  void Consume(const std::shared_ptr<ClientCall>& call, std::size_t bytes) override;
  void OnBody(const std::shared_ptr<ClientCall>& call) override {
    if (call == current_) wire_.MarkDirty();
  }
  bool closing() const override { return state_ != State::kOpen || close_after_; }

 private:
  void WriteRequest(std::string& out);
  void WriteFields(std::string& out);
  void WriteBody(std::string& out, std::size_t limit);
  std::size_t Process(std::string_view in);
  std::size_t ProcessOne(std::string_view in);
  std::size_t ProcessHead(std::string_view in);
  void BeginBody(const ResponseHead& head, const Framing& framing);
  void SwitchProtocols();
  void Deliver(std::string_view data);
  void Complete();
  void Break(const std::string& why) { Break(Status(Reason::kServiceUnavailable, why)); }
  void Break(const Status& why);
  void Finish() {
    if (state_ == State::kOpen) state_ = State::kFinished;
    wire_.MarkDirty();
  }

  Wire& wire_;
  const ClientSetup setup_;
  State state_ = State::kOpen;
  std::vector<std::shared_ptr<ClientCall>> waiting_;  // Mostly none.
  std::shared_ptr<ClientCall> current_;
  bool in_body_ = false;
  bool close_after_ = false;
  HeadScanner scanner_{kAnswerHeadBytesMax, kAnswerHeadFieldsMax};
  BodyDecoder body_;
  std::string in_;
  std::size_t withheld_ = 0;
};

// Parses bytes in place, and copies only those that must wait for more.
void Http1Client::Receive(std::string_view bytes) {
  if (in_.empty()) {
    in_.append(bytes.substr(Process(bytes)));
    return;
  }
  in_.append(bytes);
  const std::size_t used = Process(in_);
  if (used == in_.size()) {
    std::exchange(in_, {}).clear();
  } else {
    in_.erase(0, used);
  }
}

std::size_t Http1Client::Process(std::string_view in) {
  std::size_t used = 0;
  while (state_ == State::kOpen && used < in.size()) {
    const std::size_t step = ProcessOne(in.substr(used));
    if (step == 0) break;
    used += step;
  }
  return used;
}

std::size_t Http1Client::ProcessOne(std::string_view in) {
  if (!current_) {
    Break("the server sent what nobody asked for");
    return 0;
  }
  if (current_->raw) {
    Deliver(in);
    return in.size();
  }
  if (!in_body_) return ProcessHead(in);
  std::string_view data;
  const std::size_t used = body_.Decode(in, data);
  if (!data.empty()) Deliver(data);
  if (body_.bad()) Break("malformed response body");
  if (body_.done()) Complete();
  return used;
}

std::size_t Http1Client::ProcessHead(std::string_view in) {
  const auto verdict = scanner_.Scan(in);
  if (verdict == HeadScanner::Verdict::kIncomplete) return 0;
  const std::size_t size = scanner_.size();
  scanner_.Reset();
  ResponseHead head;
  Framing framing;
  if (verdict == HeadScanner::Verdict::kTooLarge) {
    Break(HeadTooLarge());
    return 0;
  }
  if (verdict != HeadScanner::Verdict::kComplete ||
      !ParseResponseHead(in.substr(0, size), head, framing)) {
    Break("malformed response head");
    return 0;
  }
  // Interim answers precede the final one: RFC 9110, 15.2.
  if (head.code >= 100 && head.code < 200 && head.code != 101) return size;
  const auto call = current_;
  if (head.code == 101 && call->streamed && !call->upgrade) {
    Break("the server switched protocols without being asked");
    return 0;
  }
  // A connection on which an upgrade was asked for is never used again (CVE-2018-1002105).
  close_after_ = !framing.keep_alive || call->upgrade;
  call->sink->OnHead(head);
  if (current_ == call) BeginBody(head, framing);
  return size;
}

void Http1Client::BeginBody(const ResponseHead& head, const Framing& framing) {
  in_body_ = true;
  if (head.code == 101) return SwitchProtocols();
  // These have no body, whatever their headers say: RFC 9112, 6.3.
  const bool none = current_->head.method == "HEAD" || head.code == 204 || head.code == 304;
  if (none) {
    body_ = BodyDecoder();
  } else if (framing.chunked || framing.length) {
    body_ = BodyDecoder::ForRequest(framing);
  } else {
    body_ = BodyDecoder(BodyDecoder::Mode::kUntilClose);
    close_after_ = true;
  }
  if (body_.done()) Complete();
}

// A call that was opened with a whole body may write from here on, and for as long as it likes.
// There may be thousands of such calls, which need their heads no more.
void Http1Client::SwitchProtocols() {
  current_->raw = true;
  current_->head.headers = Headers();
  if (!current_->streamed) current_->body_ended = current_->write_ended = false;
  wire_.MarkDirty();
}

void Http1Client::Deliver(std::string_view data) {
  const std::size_t consumed = current_->sink->OnData(data);
  withheld_ += data.size() - consumed;
}

void Http1Client::Complete() {
  const auto call = std::move(current_);
  in_body_ = false;
  withheld_ = 0;
  // The server has answered before it had the whole request: what it would take for the rest of
  // that must not be the next request.
  close_after_ |= !call->write_ended;
  if (close_after_) Finish();
  call->Finish(Status::Ok());
  wire_.MarkDirty();
}

void Http1Client::Break(const Status& why) {
  state_ = State::kBroken;
  if (const auto call = std::move(current_)) call->Finish(why);
  wire_.MarkDirty();
}

// After an upgrade the server may end its direction and still be written to. A body without a
// length ends here.
bool Http1Client::OnReadEnd() {
  if (!current_ || !current_->streamed || !in_body_) return false;
  if (current_->raw) {
    const auto call = current_;
    call->End(Status::Ok());
    if (call->write_ended) Finish();
    return true;
  }
  if (body_.mode() != BodyDecoder::Mode::kUntilClose) return false;
  Complete();
  return true;
}

void Http1Client::OnClosed(const Status& why) {
  state_ = State::kBroken;
  const Status lost = why.ok() ? Status(Reason::kServiceUnavailable, "connection closed") : why;
  const bool unanswered = !in_body_ && in_.empty();
  if (const auto call = std::move(current_)) {
    // A body without a length ends with the connection; any other body is cut short by it.
    const bool until_close = call->raw || body_.mode() == BodyDecoder::Mode::kUntilClose;
    const bool complete = in_body_ && !call->streamed && until_close;
    call->Finish(complete ? Status::Ok() : unanswered ? Unanswered(lost) : lost);
  }
  // Nothing of these was sent, so that callers may repeat them.
  for (const auto& call : std::exchange(waiting_, {})) {
    call->Finish(NeverSent());
  }
}

void Http1Client::Produce(std::string& out, std::size_t limit) {
  if (!current_ && state_ == State::kOpen && !waiting_.empty()) {
    current_ = std::move(waiting_.front());
    waiting_.erase(waiting_.begin());
    WriteRequest(out);
  }
  if (current_ && out.size() < limit) WriteBody(out, limit);
}

// Writes as much of the body as there is. The bytes of an upgrade wait for the 101: a server that
// refuses would take them for the next request.
void Http1Client::WriteBody(std::string& out, std::size_t limit) {
  const auto call = current_;
  if (call->write_ended || (call->upgrade && !call->raw)) return;
  const bool chunked = !call->raw && !call->head.body_bytes;
  if (!chunked) {
    call->Sent(call->body.TakeTo(out, limit));
  } else if (!call->body.empty()) {
    // A little over the limit rather than in many small chunks.
    const std::size_t room = std::max(limit - out.size(), kChunkBytesMin);
    const std::size_t count = std::min(call->body.size(), room);
    std::array<char, 16> digits{};
    out.append(digits.data(), std::to_chars(digits.begin(), digits.end(), count, 16).ptr);
    out += "\r\n";
    call->Sent(call->body.TakeTo(out, out.size() + count));
    out += "\r\n";
  }
  if (!call->body_ended || !call->body.empty()) return;
  if (chunked) out += "0\r\n\r\n";
  call->EndWrite();
  if (call->raw && call->ended) Finish();
}

void Http1Client::WriteRequest(std::string& out) {
  const ClientRequestHead& head = current_->head;
  out += head.method + " " + head.target + " HTTP/1.1\r\n";
  WriteFields(out);
  out += "\r\n";
}

// The framing of the body belongs to this side: a Content-Length or Transfer-Encoding of the caller
// that contradicts it would let two servers see two different requests.
void Http1Client::WriteFields(std::string& out) {
  const ClientRequestHead& head = current_->head;
  const bool as_given = current_->upgrade;
  if (!as_given && !head.headers.Has("Host")) out += "Host: " + setup_.authority + "\r\n";
  for (const Headers::Field& field : head.headers) {
    const bool ours = EqualIgnoreCase(field.name, "Content-Length") ||
                      EqualIgnoreCase(field.name, "Transfer-Encoding");
    if (ours && !as_given) continue;
    out += field.name + ": ";
    AppendSafe(out, field.value);
    out += "\r\n";
  }
  if (as_given) return;
  // A request whose method expects a body announces an empty one, too: RFC 9110, 8.6.
  const bool bodiless = head.method == "GET" || head.method == "HEAD";
  if (!head.body_bytes) {
    out += "Transfer-Encoding: chunked\r\n";
  } else if (*head.body_bytes > 0 || !bodiless) {
    out += "Content-Length: " + std::to_string(*head.body_bytes) + "\r\n";
  }
}

void Http1Client::Abort(const std::shared_ptr<ClientCall>& call, const Status& why) {
  if (call != current_ && call->ended) return;
  const auto waiting = std::find(waiting_.begin(), waiting_.end(), call);
  if (waiting != waiting_.end()) waiting_.erase(waiting);
  if (current_ == call) {
    // The rest of its answer cannot be told from the next one's.
    current_.reset();
    state_ = State::kBroken;
  }
  call->Finish(why);
  wire_.MarkDirty();
}

void Http1Client::Consume(const std::shared_ptr<ClientCall>& call, std::size_t bytes) {
  if (current_ != call) return;
  withheld_ -= std::min(withheld_, bytes);
  wire_.MarkDirty();
}

}  // namespace

std::unique_ptr<ClientProtocol> NewHttp1Client(Wire& wire, ClientSetup setup) {
  return std::make_unique<Http1Client>(wire, std::move(setup));
}

}  // namespace apiserver::v0::http
