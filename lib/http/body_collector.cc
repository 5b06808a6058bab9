#include "http/body_collector.h"

#include <algorithm>
#include <utility>

#include "http/driver.h"

namespace apiserver::v0::http {
namespace {

// A body of unknown length is charged in steps.
constexpr std::size_t kChargeStepBytes = 256 << 10;
// Fewer unread bytes are not counted: an exchange itself takes as much memory.
constexpr std::size_t kUnwantedBytesMin = 4 << 10;
// The pace of a body is looked at this often. A body is too slow after so many ticks in a row that
// brought less than so many bytes each. While others wait for its room it has one tick, and must
// bring more, or a few clients that stand still could keep a whole priority level waiting.
constexpr auto kPaceTick = std::chrono::seconds(1);
constexpr int kSlowTicksMax = 5;
constexpr std::size_t kTickBytesMin = 1 << 10;
constexpr std::size_t kContendedTickBytesMin = 256 << 10;

Status TooLarge(std::size_t bytes_max) {
  return {Reason::kRequestEntityTooLarge,
          "Request entity too large: limit is " + std::to_string(bytes_max)};
}

Status NoMemory() {
  return Status(Reason::kTooManyRequests,
                "the bodies of other requests take all memory there is for them, please try again")
      .WithDetails({.retry_after_seconds = 1});
}

Status TooSlow() {
  return Status(Reason::kTimeout, "the request's body comes too slowly").WithCode(408);
}

}  // namespace

BodyCollector::BodyCollector(const Setup& setup)
    : loop_(setup.loop),
      share_(setup.memory.bodies),
      incoming_(setup.incoming),
      charge_(share_),
      room_(loop_, charge_, setup.memory.room_wait_max),
      complete_(!setup.incoming.present) {}

Status BodyCollector::CheckLength(std::size_t bytes_max) const {
  // A body without a length is measured as it comes, in Accept().
  if (incoming_.length && *incoming_.length > bytes_max) return TooLarge(bytes_max);
  return {};
}

// A body may be collected several times or passed on once, but not both.
bool BodyCollector::WillCollect() {
  if (use_ == Use::kPassOn) return false;
  use_ = Use::kCollect;
  return true;
}

bool BodyCollector::WillPassOn() { return std::exchange(use_, Use::kPassOn) == Use::kNone; }

void BodyCollector::Collect(std::size_t bytes_max, std::shared_ptr<void> owner, Resume resume) {
  if (body_) return resume(Step::Next());
  if (stopped_) return resume(Step::Done());
  waiter_.emplace(std::move(resume));
  owner_ = std::move(owner);
  bytes_max_ = bytes_max;
  charge_.SetTenant(tenant_);
  // An announced length counts as a whole, so that every body that has begun can be finished.
  const std::size_t bytes = std::max<std::size_t>(incoming_.length.value_or(0), unread_.size());
  if (charge_.TryResize(bytes)) return Read();
  Await(bytes, [this] { Read(); });
}

void BodyCollector::Read() {
  if (incoming_.length) unread_.reserve(*incoming_.length);  // It is charged already.
  wanted_ = true;
  if (!complete_ && stream_ != nullptr) stream_->OnBodyWanted();
  unconsumed_ = unread_.size();
  WatchPace();
  Accept();
}

void BodyCollector::Data(std::string_view bytes) {
  if (sink_) return PassPiece(bytes);
  if (stopped_ || (wanted_ && !waiter_)) return Consume(bytes.size());
  unread_.append(bytes);
  if (wanted_) {
    unconsumed_ += bytes.size();
    return Accept();
  }
  // It is here, whether or not there is room; the transport's window bounds it.
  const bool counts = unread_.size() >= kUnwantedBytesMin && unread_.size() > charge_.bytes();
  if (counts && !room_.active()) charge_.Resize(unread_.size());
}

void BodyCollector::End() {
  complete_ = true;
  if (sink_) return PassMore();
  if (wanted_) Accept();
}

void BodyCollector::Consume(std::size_t bytes) {
  if (stream_ != nullptr && bytes > 0) stream_->OnBodyConsumed(bytes);
}

void BodyCollector::Accept() {
  if (!waiter_ || room_.active()) return;
  if (unread_.size() > bytes_max_) return Refuse(TooLarge(bytes_max_));
  if (!Charge()) return;
  // The window opens only for bytes that are charged, so that a lack of memory slows the client
  // down.
  Consume(std::exchange(unconsumed_, 0));
  if (!complete_) return;
  collected_bytes_ = unread_.size();
  charge_.Resize(collected_bytes_);
  body_ = std::make_shared<const std::string>(std::exchange(unread_, {}));
  Finish(Step::Next());
}

// Charges the bytes that have come, in steps, so that a body without a length does not touch the
// share for every piece. False: it waits for room.
bool BodyCollector::Charge() {
  if (unread_.size() <= charge_.bytes()) return true;
  const std::size_t steps = (unread_.size() + kChargeStepBytes - 1) / kChargeStepBytes;
  const std::size_t bytes = complete_ ? unread_.size() : steps * kChargeStepBytes;
  if (charge_.TryResize(bytes)) return true;
  Await(bytes, [this] {
    WatchPace();
    Accept();
  });
  return false;
}

// The client is not measured while it waits for this server.
void BodyCollector::Await(std::size_t bytes, UniqueFunction<void()> then) {
  loop_.Disarm(pace_);
  room_.Start(bytes, owner_, [this, then = std::move(then)](bool room) mutable {
    if (!room) return Refuse(NoMemory());
    then();
  });
}

void BodyCollector::WatchPace() {
  if (complete_) return;
  paced_bytes_ = unread_.size();
  loop_.Arm(pace_, loop_.now() + kPaceTick);
}

void BodyCollector::CheckPace() {
  // Refuse() may drop the last other reference to this exchange.
  const auto keep = owner_;
  if (sink_) return CheckPassPace();
  if (!waiter_ || complete_) return;
  const std::size_t came = unread_.size() - paced_bytes_;
  slow_ticks_ = came < kTickBytesMin ? slow_ticks_ + 1 : 0;
  if (slow_ticks_ >= kSlowTicksMax) return Refuse(TooSlow());
  if (came < kContendedTickBytesMin && share_.contended(tenant_)) return Refuse(NoMemory());
  WatchPace();
}

void BodyCollector::Refuse(const Status& why) {
  wanted_ = true;  // So that what still comes is dropped.
  std::exchange(unread_, {}).clear();
  charge_.Resize(0);
  Consume(std::exchange(unconsumed_, 0));
  Finish(why);
}

void BodyCollector::Finish(Step step) {
  loop_.Disarm(pace_);
  const auto keep = std::exchange(owner_, nullptr);
  auto waiter = std::move(*std::exchange(waiter_, std::nullopt));
  waiter(std::move(step));
}

// ------------------------------------------------------------------------------ passing it on

void BodyCollector::PassOn(std::shared_ptr<StreamSink> sink, bool paced,
                           std::shared_ptr<void> owner) {
  sink_ = std::move(sink);
  if (stopped_) {
    return EndPassing(Status(Reason::kBadRequest, "the request's body is incomplete"));
  }
  owner_ = std::move(owner);
  paced_ = paced;
  wanted_ = true;
  charge_.SetTenant(tenant_);
  if (!complete_ && stream_ != nullptr) stream_->OnBodyWanted();
  if (!complete_ && paced_) loop_.Arm(pace_, loop_.now() + kPaceTick);
  PassMore();
}

void BodyCollector::PassPiece(std::string_view bytes) {
  paced_bytes_ += bytes.size();
  if (passing_ || paused_.load() || !unread_.empty()) {
    // It is here already; the transport's window bounds it.
    unread_.append(bytes);
    return charge_.Resize(unread_.size());
  }
  const auto keep = owner_;
  // Before the sink is told, which may end everything.
  Consume(bytes.size());
  Tell(bytes);
}

void BodyCollector::PassMore() {
  const auto keep = owner_;
  while (sink_ && !passing_ && !paused_.load()) {
    if (unread_.empty()) {
      if (complete_) EndPassing(Status::Ok());
      return;
    }
    const std::string bytes = std::exchange(unread_, {});
    charge_.Resize(0);
    Consume(bytes.size());
    Tell(bytes);
  }
}

// The sink is the host's. Its exceptions must not reach the transport, which serves other requests.
void BodyCollector::Tell(std::string_view bytes) {
  const auto sink = sink_;
  passing_ = true;
  try {
    sink->OnData(bytes);
  } catch (...) {
    loop_.LogCaught("reading a request's body");
    if (stream_ != nullptr) stream_->Cut();
  }
  passing_ = false;
}

void BodyCollector::CheckPassPace() {
  if (complete_) return;
  const std::size_t came = std::exchange(paced_bytes_, 0);
  // A tick in which the sink has paused does not count against the client.
  const bool held = held_.exchange(paused_.load());
  slow_ticks_ = held || came >= kTickBytesMin ? 0 : slow_ticks_ + 1;
  if (slow_ticks_ >= kSlowTicksMax) return EndPassing(TooSlow());
  loop_.Arm(pace_, loop_.now() + kPaceTick);
}

void BodyCollector::EndPassing(const Status& why) {
  const auto sink = std::exchange(sink_, nullptr);
  if (!sink) return;
  const auto keep = std::exchange(owner_, nullptr);
  wanted_ = false;
  loop_.Disarm(pace_);
  try {
    sink->OnEnd(why);
  } catch (...) {
    loop_.LogCaught("reading a request's body");
    if (stream_ != nullptr) stream_->Cut();
  }
}

// ------------------------------------------------------------------------------ its memory

void BodyCollector::ChargeTo(const Tenant& tenant) {
  tenant_ = tenant;
  if (!room_.active()) charge_.SetTenant(tenant);
}

void BodyCollector::LetGo() {
  body_.reset();
  charge_.Resize(unread_.size() < kUnwantedBytesMin ? 0 : unread_.size());
}

void BodyCollector::Stop() {
  stopped_ = true;
  stream_ = nullptr;
  room_.Stop();
  const Status incomplete(Reason::kBadRequest, "the request's body is incomplete");
  if (waiter_) Finish(incomplete);
  EndPassing(incomplete);
}

}  // namespace apiserver::v0::http
