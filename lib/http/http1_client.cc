#include <algorithm>
#include <deque>
#include <utility>

#include "http/client_protocol.h"
#include "http/http1_body.h"
#include "http/http1_head.h"
#include "http/tokens.h"

namespace apiserver::v0::http {
namespace {

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
  void OnClosed(const Status& why) override;

  void Start(std::shared_ptr<ClientCall> call) override {
    waiting_.push_back(std::move(call));
    wire_.MarkDirty();
  }
  void Cancel(const std::shared_ptr<ClientCall>& call) override;
  void Consume(const std::shared_ptr<ClientCall>& call, std::size_t bytes) override;
  void Write(const std::shared_ptr<ClientCall>& call, std::string bytes) override;
  bool closing() const override { return state_ != State::kOpen || close_after_; }

 private:
  void WriteRequest(std::string& out);
  std::size_t Process(std::string_view in);
  std::size_t ProcessHead(std::string_view in);
  void BeginBody(const ResponseHead& head, const Framing& framing);
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
  std::deque<std::shared_ptr<ClientCall>> waiting_;
  std::shared_ptr<ClientCall> current_;
  bool in_body_ = false;
  bool raw_ = false;  // After a 101.
  bool close_after_ = false;
  HeadScanner scanner_{kAnswerHeadBytesMax, kAnswerHeadFieldsMax};
  BodyDecoder body_;
  std::string in_;
  std::string out_;
  std::size_t withheld_ = 0;
};

void Http1Client::Receive(std::string_view bytes) {
  in_.append(bytes);
  std::size_t used = 0;
  while (state_ == State::kOpen && used < in_.size()) {
    const std::size_t step = Process(std::string_view(in_).substr(used));
    if (step == 0) break;
    used += step;
  }
  if (used == in_.size()) {
    std::exchange(in_, {}).clear();
  } else {
    in_.erase(0, used);
  }
}

std::size_t Http1Client::Process(std::string_view in) {
  if (!current_) {
    Break("the server sent what nobody asked for");
    return 0;
  }
  if (raw_) {
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
  if (head.code >= 100 && head.code < 200 && head.code != 101) return size;
  close_after_ = !framing.keep_alive;
  const auto call = current_;
  call->sink->OnHead(head);
  if (current_ == call) BeginBody(head, framing);
  return size;
}

void Http1Client::BeginBody(const ResponseHead& head, const Framing& framing) {
  in_body_ = true;
  raw_ = head.code == 101;
  if (raw_) return;
  const bool none = current_->request.method == "HEAD" || head.code == 204 || head.code == 304;
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
  close_after_ |= call->sent < call->request.body.size();
  if (close_after_) Finish();
  call->End(Status::Ok());
  wire_.MarkDirty();
}

void Http1Client::Break(const Status& why) {
  state_ = State::kBroken;
  if (const auto call = std::move(current_)) call->End(why);
  wire_.MarkDirty();
}

void Http1Client::OnClosed(const Status& why) {
  state_ = State::kBroken;
  const Status lost = why.ok() ? Status(Reason::kServiceUnavailable, "connection closed") : why;
  const bool unanswered = !in_body_ && in_.empty();
  const bool complete = in_body_ && (raw_ || body_.mode() == BodyDecoder::Mode::kUntilClose);
  if (const auto call = std::move(current_))
    call->End(complete ? Status::Ok() : unanswered ? Unanswered(lost) : lost);
  for (const auto& call : std::exchange(waiting_, {})) {
    call->End(NeverSent());
  }
}

void Http1Client::Produce(std::string& out, std::size_t limit) {
  if (!current_ && state_ == State::kOpen && !waiting_.empty()) {
    current_ = std::move(waiting_.front());
    waiting_.pop_front();
    WriteRequest(out);
  }
  out += out_;
  std::exchange(out_, {}).clear();
  if (!current_ || out.size() >= limit) return;
  const std::string& body = current_->request.body;
  const std::size_t count = std::min(body.size() - current_->sent, limit - out.size());
  out.append(body, current_->sent, count);
  current_->sent += count;
}

void Http1Client::WriteRequest(std::string& out) {
  const ClientRequest& request = current_->request;
  out += request.method + " " + request.target + " HTTP/1.1\r\n";
  if (!request.headers.Has("Host")) out += "Host: " + setup_.authority + "\r\n";
  for (const Headers::Field& field : request.headers) {
    if (EqualIgnoreCase(field.name, "Content-Length")) continue;
    out += field.name + ": ";
    AppendSafe(out, field.value);
    out += "\r\n";
  }
  const bool bodiless = request.method == "GET" || request.method == "HEAD";
  if (!request.body.empty() || !bodiless) {
    out += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  }
  out += "\r\n";
}

void Http1Client::Cancel(const std::shared_ptr<ClientCall>& call) {
  if (call->ended) return;
  const auto waiting = std::find(waiting_.begin(), waiting_.end(), call);
  if (waiting != waiting_.end()) waiting_.erase(waiting);
  if (current_ == call) {
    // The rest of its answer cannot be told from the next one's.
    current_.reset();
    state_ = State::kBroken;
  }
  call->End(Status(Reason::kTimeout, "cancelled"));
  wire_.MarkDirty();
}

void Http1Client::Consume(const std::shared_ptr<ClientCall>& call, std::size_t bytes) {
  if (current_ != call) return;
  withheld_ -= std::min(withheld_, bytes);
  wire_.MarkDirty();
}

void Http1Client::Write(const std::shared_ptr<ClientCall>& call, std::string bytes) {
  if (current_ != call || !raw_) return;
  out_ += bytes;
  wire_.MarkDirty();
}

}  // namespace

std::unique_ptr<ClientProtocol> NewHttp1Client(Wire& wire, ClientSetup setup) {
  return std::make_unique<Http1Client>(wire, std::move(setup));
}

}  // namespace apiserver::v0::http
