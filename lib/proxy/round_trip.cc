#include "proxy/round_trip.h"

#include <atomic>
#include <string>
#include <utility>

#include "proxy/body_transfer.h"
#include "proxy/valve.h"

namespace apiserver::v0::proxy {
namespace {

bool IsUnanswered(const Status& status) {
  const StatusDetails* details = status.details();
  return details != nullptr && !details->causes.empty() &&
         details->causes.front().reason == http::kUnansweredCause;
}

bool MayRepeat(const http::ClientRequestHead& head) {
  const bool idempotent = head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS";
  return idempotent && head.body_bytes == 0U;
}

// Everything belongs to the pool's loop, except where a comment says otherwise.
class Trip final : public RoundTrip,
                   public http::StreamSink,
                   public std::enable_shared_from_this<Trip> {
 public:
  explicit Trip(Setup setup)
      : setup_(std::move(setup)), transfer_(setup_.memory, setup_.head.tenant) {}

  void Start(Answered answered) override;
  std::unique_ptr<http::BodySource> Body() override;
  void Cancel() override {
    if (over_.load()) return;
    setup_.pool->loop().Post([self = shared_from_this()] { self->GiveUp(); });
  }

  // --- The backend's stream.
  void OnHead(const http::ResponseHead& head) override;
  void OnData(std::string_view bytes) override { transfer_.Push(bytes, *stream_); }
  void OnEnd(const Status& status) override;
  void OnRoom() override {
    if (setup_.body) body_valve_.OnRoom(*setup_.body);
  }

  // --- On the client's loop, once the stream is open.
  http::Pull Next(http::ChunkWriter& out, const Waker& waker) {
    return transfer_.Next(out, waker, *stream_);
  }
  void OnBodyData(std::string_view bytes) { body_valve_.Pass(bytes, *setup_.body, *stream_); }
  void OnBodyEnd(const Status& status);

 private:
  void Begin(Answered answered);
  void StartTimer();
  void Connect(bool fresh);
  void OnLease(Result<std::unique_ptr<Lease>> lease);
  Status Open();
  void Answer(Result<http::ResponseHead> head);
  void GiveUp();

  Setup setup_;
  Answered answered_;  // Empty: it was called, or is not wanted any more.
  Executor::Cancel cancel_wait_;
  Executor::Cancel cancel_timer_;
  std::unique_ptr<Lease> lease_;
  std::unique_ptr<http::Stream> stream_;  // Kept until the end: the client's side writes to it.
  bool leased_ = false;                   // There is no wait to cancel.
  bool reused_ = false;
  bool given_up_ = false;
  std::atomic<bool> over_{false};  // There is nothing to cancel. For all threads.
  Valve body_valve_;
  BodyTransfer transfer_;
};

// Reads the request's body on the client's loop.
class RequestBody final : public http::StreamSink {
 public:
  explicit RequestBody(std::shared_ptr<Trip> trip) : trip_(std::move(trip)) {}
  void OnData(std::string_view bytes) override { trip_->OnBodyData(bytes); }
  void OnEnd(const Status& status) override { trip_->OnBodyEnd(status); }

 private:
  const std::shared_ptr<Trip> trip_;
};

class AnswerBody final : public http::BodySource {
 public:
  explicit AnswerBody(std::shared_ptr<Trip> trip) : trip_(std::move(trip)) {}
  ~AnswerBody() override { trip_->Cancel(); }
  http::Pull Next(http::ChunkWriter& out, const Waker& waker) override {
    return trip_->Next(out, waker);
  }

 private:
  const std::shared_ptr<Trip> trip_;
};

void Trip::Start(Answered answered) {
  if (setup_.pool->loop().Inside()) return Begin(std::move(answered));
  setup_.pool->loop().Post([self = shared_from_this(), answered = std::move(answered)]() mutable {
    self->Begin(std::move(answered));
  });
}

void Trip::Begin(Answered answered) {
  if (given_up_) return;
  answered_ = std::move(answered);
  StartTimer();
  Connect(/*fresh=*/false);
}

void Trip::StartTimer() {
  if (!setup_.deadline) return;
  cancel_timer_ = setup_.pool->loop().PostAfter(
      *setup_.deadline - RealClock().Now(), [self = shared_from_this()] {
        self->Answer(Status(Reason::kTimeout, "context deadline exceeded"));
        self->GiveUp();
      });
}

void Trip::Connect(bool fresh) {
  leased_ = false;
  auto cancel = setup_.pool->Lend(setup_.endpoint, fresh, [self = shared_from_this()](auto lease) {
    self->OnLease(std::move(lease));
  });
  if (!leased_) cancel_wait_ = std::move(cancel);
}

void Trip::OnLease(Result<std::unique_ptr<Lease>> lease) {
  leased_ = true;
  cancel_wait_ = nullptr;
  if (given_up_) return;
  if (!lease.ok()) return Answer(lease.status());
  lease_ = *std::move(lease);
  reused_ = lease_->reused();
  if (const Status opened = Open(); !opened.ok()) {
    Answer(opened);
    GiveUp();
  }
}

Status Trip::Open() {
  auto opened = lease_->connection().OpenStream(setup_.head);
  if (!opened.ok()) return opened.status();
  stream_ = *std::move(opened);
  stream_->Start(shared_from_this());
  if (setup_.whole_body) stream_->Write(*setup_.whole_body);
  if (setup_.body) setup_.body->Start(std::make_shared<RequestBody>(shared_from_this()));
  return {};
}

// Told at the end of the turn: what comes with the head, mostly the whole answer, is there then.
void Trip::Answer(Result<http::ResponseHead> head) {
  if (cancel_timer_) std::exchange(cancel_timer_, nullptr)();
  if (!answered_) return;
  setup_.pool->loop().Post([self = shared_from_this(), answered = std::exchange(answered_, nullptr),
                            head = std::move(head)]() mutable { answered(std::move(head)); });
}

void Trip::OnHead(const http::ResponseHead& head) {
  if (given_up_) return;
  if (head.code < 200 || head.code > 999) {
    Answer(Status(Reason::kServiceUnavailable,
                  "malformed HTTP status code \"" + std::to_string(head.code) + "\""));
    return GiveUp();
  }
  Answer(head);
}

void Trip::OnEnd(const Status& status) {
  const bool unanswered = static_cast<bool>(answered_);
  const bool repeat = !status.ok() && unanswered && reused_ && !setup_.body &&
                      IsUnanswered(status) && MayRepeat(setup_.head);
  if (repeat && !given_up_) {
    stream_.reset();
    lease_.reset();
    return Connect(/*fresh=*/true);
  }
  if (status.ok() && lease_) lease_->GiveBack();
  lease_.reset();
  if (unanswered) {
    Answer(status.ok() ? Status(Reason::kServiceUnavailable, "EOF") : status);
  }
  over_.store(status.ok() && !setup_.body && !setup_.whole_body);
  transfer_.End(status);
}

// The backend is told by a cancelled stream that the rest of the answer is not wanted.
void Trip::GiveUp() {
  if (std::exchange(given_up_, true)) return;
  if (cancel_timer_) std::exchange(cancel_timer_, nullptr)();
  if (cancel_wait_) std::exchange(cancel_wait_, nullptr)();
  answered_ = nullptr;
  if (stream_) stream_->Cancel();
  if (setup_.body) setup_.body->Cancel();
}

std::unique_ptr<http::BodySource> Trip::Body() {
  return std::make_unique<AnswerBody>(shared_from_this());
}

// A body that its client does not complete must not look complete to the backend.
void Trip::OnBodyEnd(const Status& status) {
  if (status.ok()) return stream_->CloseWrite();
  setup_.pool->loop().Post([self = shared_from_this(), status] {
    self->Answer(status);
    self->GiveUp();
  });
}

}  // namespace

std::shared_ptr<RoundTrip> NewRoundTrip(RoundTrip::Setup setup) {
  return std::make_shared<Trip>(std::move(setup));
}

}  // namespace apiserver::v0::proxy
