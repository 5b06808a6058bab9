#include "http/driver.h"

#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/base/sync.h"
#include "http/body_stream.h"
#include "http/caught.h"
#include "http/http1_head.h"

namespace apiserver::v0::http {
namespace {

// The bytes that a BodySource is asked for at a time.
constexpr std::size_t kPullBytes = 64 << 10;
// The calls of a BodySource before other connections have their turn: it may write little at a
// time.
constexpr int kPullsAtOnce = 64;

const Status& Cancelled() {
  static const Status status(Reason::kTimeout, "context canceled");
  return status;
}

// Made before the first request: when it is needed there may be no memory to make it.
const Status& Panicked() {
  static const Status status(
      Reason::kInternalError,
      "This request caused apiserver to panic. Look in the logs for more info");
  return status;
}

Status NoMemoryForDecoding() {
  return Status(Reason::kTooManyRequests,
                "decoding other requests takes all memory there is for it, please try again")
      .WithDetails({.retry_after_seconds = 1});
}

// Limits the retries, and sets the pause between them, of a signal for which there was no memory.
constexpr int kDeliveriesMax = 1000;
constexpr auto kDeliveryPause = std::chrono::milliseconds(1);

}  // namespace

// The state behind a Resume. Each Step::Later has its own, so that a late Resume cannot touch a
// later step.
struct Resume::Target {
  enum Bits : std::uint32_t { kStarted = 1, kResumed = 2, kAbandoned = 4 };

  explicit Target(std::shared_ptr<ExchangeDriver> exchange) : driver(std::move(exchange)) {}

  void Resumed(Step with) {
    step.emplace(std::move(with));
    const auto before = bits.fetch_or(kResumed);
    // While `start` still runs, its thread goes on; see BeginLater.
    if ((before & kStarted) != 0 && (before & kAbandoned) == 0) {
      driver->Signal(ExchangeDriver::kResumed);
    }
    driver.reset();
  }

  std::shared_ptr<ExchangeDriver> driver;
  std::optional<Step> step;
  std::atomic<std::uint32_t> bits{0};
};

// A callback that is lost would leave its client without an answer for ever.
Resume::~Resume() {
  if (target_) {
    target_->Resumed(
        Status(Reason::kInternalError, "the request was dropped by what it waited for"));
  }
}

void Resume::operator()(Step step) {
  if (const auto target = std::exchange(target_, nullptr)) target->Resumed(std::move(step));
}

void Resume::OnLoop(UniqueFunction<Step()> work) {
  Step step(Step::Kind::kOnLoop);
  step.work_ = std::move(work);
  (*this)(std::move(step));
}

Step Step::Next() { return Step(Kind::kNext); }

Step Step::Done() { return Step(Kind::kDone); }

// An OK that is returned as an error is a mistake of the handler: the client must not wait for it.
Step::Step(Status error) : kind_(Kind::kError), error_(std::move(error)) {
  if (error_.ok()) error_ = Status(Reason::kInternalError, "a step failed without an error");
}

Step Step::OnPool(UniqueFunction<Step()> work) {
  Step step(Kind::kOnPool);
  step.work_ = std::move(work);
  return step;
}

Step Step::Later(UniqueFunction<void(Resume)> start) {
  Step step(Kind::kLater);
  step.start_ = std::move(start);
  return step;
}

void Filter::Head(Exchange& /*exchange*/, ResponseHead& /*head*/) const {}

void Filter::End(Exchange& /*exchange*/, const Outcome& /*outcome*/) const {}

ExchangeDriver::ExchangeDriver(Setup setup)
    : loop_(std::move(setup.loop)),
      service_(*setup.service),
      request_(std::move(setup.request)),
      count_(std::move(setup.count)),
      received_(loop_->now()),
      root_(Context::Child(Context::Background())),
      ctx_(root_.WithMayBlock(false)),
      query_(Query::Parse(request_.query)),
      queue_(kPullBytes, service_.memory->output),
      incoming_(setup.body.present ? NewCollector(setup.body) : nullptr),
      decoding_(service_.memory->decoding) {
  (void)Panicked();
  if (count_) ++count_->live;
}

ExchangeDriver::~ExchangeDriver() = default;

std::unique_ptr<BodyCollector> ExchangeDriver::NewCollector(const IncomingBody& body) const {
  return std::make_unique<BodyCollector>(
      BodyCollector::Setup{.loop = *loop_, .memory = *service_.memory, .incoming = body});
}

// ------------------------------------------------------------------------------ steps

void ExchangeDriver::Start(ServerStream& stream) {
  stream_ = &stream;
  if (incoming_) incoming_->Attach(stream);
  running_ = true;
  Advance(Step::Next(), true);
}

// The exception may come from a lack of memory, so that the log line may fail in the same way.
Status ExchangeDriver::CaughtError(std::string_view where) const {
  try {
    try {
      throw;
    } catch (const std::exception& error) {
      LogError("exception while serving a request", where, error.what());
    } catch (...) {
      LogError("exception while serving a request", where, "of unknown type");
    }
  } catch (...) {
    loop_->LogCaught("serving a request");
  }
  return Panicked();
}

void ExchangeDriver::LogError(std::string_view message, std::string_view where,
                              std::string_view error) const {
  Log(*service_.log, LogLevel::kError, message,
      {{"in", std::string(where)},
       {"error", std::string(error)},
       {"method", request_.method},
       {"path", request_.path}});
}

Status ExchangeDriver::CaughtInStep(std::string_view where) {
  Status error = CaughtError(where);
  try {
    try {
      throw;
    } catch (const std::exception& thrown) {
      ctx_.Set(Caught{thrown.what()});
    } catch (...) {
      ctx_.Set(Caught{"of unknown type"});
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory; the audit log tells less
  }
  return error;
}

Step ExchangeDriver::BeginAt(std::size_t index) {
  const bool handler = index >= service_.filters.size();
  if (index > service_.filters.size()) {
    return Status(Reason::kInternalError, "the request was passed on by its last handler");
  }
  // Set before the filter runs: its Head() and End() are called even if it fails.
  if (!handler) begun_.store(index + 1, std::memory_order_release);
  try {
    return handler ? service_.handler(*this) : service_.filters[index]->Begin(*this);
  } catch (...) {
    return CaughtInStep(handler ? "handler" : service_.filters[index]->name());
  }
}

// Begins one filter after the other, for as long as they return Step::Next.
Step ExchangeDriver::BeginNext() {
  for (;;) {
    Step step = BeginAt(next_++);
    if (step.kind_ != Step::Kind::kNext || cut_.load()) return step;
  }
}

Step ExchangeDriver::RunGuarded(std::string_view where, UniqueFunction<Step()>& work) {
  try {
    Step step = work();
    work = nullptr;
    return step;
  } catch (...) {
    const Status error = CaughtInStep(where);
    work = nullptr;
    return error;
  }
}

// Runs steps until one of them needs another thread or has to wait, or the last is done. A step
// that says kWouldBlock on the loop runs again on the pool, and the steps after it stay there:
// going back would cost a hop between threads for each filter.
void ExchangeDriver::Advance(Step step, bool on_loop) {
  for (;;) {
    const bool goes_on = step.kind_ != Step::Kind::kDone && step.kind_ != Step::Kind::kError;
    if (goes_on && cut_.load()) step = Step::Done();
    switch (step.kind_) {
      case Step::Kind::kNext:
        step = BeginNext();
        continue;
      case Step::Kind::kOnPool:
        if (on_loop) return HandToPool(std::move(step.work_));
        step = RunGuarded("work on the pool", step.work_);
        continue;
      case Step::Kind::kOnLoop:  // Comes from a Resume alone, so this is the loop.
        step = RunGuarded("work on the loop", step.work_);
        continue;
      case Step::Kind::kLater:
        if (BeginLater(step, on_loop)) continue;
        return;
      case Step::Kind::kError:
        if (on_loop && step.error_.reason() == Reason::kWouldBlock && next_ > 0) {
          rerun_ = true;
          return HandToPool(nullptr);
        }
        [[fallthrough]];
      case Step::Kind::kDone:
        if (on_loop) return Settle(std::move(step));
        result_.emplace(std::move(step));
        return Signal(kStepOver);
    }
  }
}

// True: `step` is what to go on with, here. False: the loop goes on, now or when resumed.
bool ExchangeDriver::BeginLater(Step& step, bool on_loop) {
  std::shared_ptr<Resume::Target> target;
  try {
    target = std::make_shared<Resume::Target>(shared_from_this());
    later_ = target;
    auto start = std::move(step.start_);
    start(Resume(target));
  } catch (...) {
    if (target) target->bits.fetch_or(Resume::Target::kStarted | Resume::Target::kAbandoned);
    step = CaughtInStep("start of a wait");
    return true;
  }
  const auto before = target->bits.fetch_or(Resume::Target::kStarted);
  if ((before & Resume::Target::kResumed) == 0) return false;
  if (!on_loop) {
    Signal(kResumed);
    return false;
  }
  step = std::move(*target->step);
  later_.reset();
  return true;
}

void ExchangeDriver::HandToPool(UniqueFunction<Step()> work) {
  work_ = std::move(work);
  ctx_ = ctx_.WithMayBlock(true);
  loop_->HandOver(*service_.pool, shared_from_this());
}

void ExchangeDriver::RunOnPool() {
  if (std::exchange(rerun_, false)) {
    Advance(BeginAt(next_ - 1), false);
  } else {
    auto work = std::move(work_);
    Advance(RunGuarded("work on the pool", work), false);
  }
}

void ExchangeDriver::DroppedByPool() {
  work_ = nullptr;
  result_.emplace(Status(Reason::kServiceUnavailable, "the server is shutting down"));
  Signal(kStepOver);
}

// A signal that is lost leaves its request without an answer: off the loop it is tried again until
// there is memory for it.
void ExchangeDriver::Signal(Signals what) {
  if (signals_.fetch_or(what) != 0) return;
  for (int tries = kDeliveriesMax;; --tries) {
    try {
      return loop_->Deliver(shared_from_this());
    } catch (const std::bad_alloc&) {
      if (loop_->Inside() || tries == 0) throw;
      (void)Notification().WaitFor(kDeliveryPause);
    }
  }
}

void ExchangeDriver::OnLoop() {
  const auto signals = signals_.exchange(0);
  if ((signals & kEndedEarly) != 0) HandleEnded();
  if ((signals & kResumed) != 0) GoOnAfterLater();
  if ((signals & kStepOver) != 0) {
    Step result = std::move(*result_);
    result_.reset();
    Settle(std::move(result));
  }
}

void ExchangeDriver::GoOnAfterLater() {
  const auto target = std::move(later_);
  Step step = std::move(*target->step);
  if (ctx_.may_block()) ctx_ = ctx_.WithMayBlock(false);
  Advance(std::move(step), true);
}

// The last step is done; the loop owns the exchange alone from here.
void ExchangeDriver::Settle(Step result) {
  running_ = false;
  DisarmDeadline(Span::kSteps);
  if (ctx_.may_block()) ctx_ = ctx_.WithMayBlock(false);
  if (!answer_over_ && !stored_.load()) {
    if (result.kind_ == Step::Kind::kError) {
      if (Claim()) WriteError(result.error_);
    } else if (Claim()) {
      LogError("a request was done without an answer", "handler", "");
      WriteError(Status(Reason::kInternalError, "no answer was written"));
    }
  }
  if (stored_.load() && !answer_over_) StartAnswer();
  LetRequestGo();
  EndIfQuiet();
}

// A client that reads its answer slowly does not keep the memory of its request.
void ExchangeDriver::LetRequestGo() {
  if (incoming_) incoming_->LetGo();
  decoding_.Resize(0);
}

// ------------------------------------------------------------------------------ answers

// The deadline of a request and its handler may answer on different threads at the same moment. The
// first exchange() decides; the other's answer is dropped.
bool ExchangeDriver::Claim() { return !claimed_.exchange(true); }

void ExchangeDriver::EndEarly(Status error) {
  if (ended_early_.exchange(true)) return;
  early_error_ = std::move(error);
  early_claimed_ = Claim();
  cut_.store(true);
  Signal(kEndedEarly);
}

void ExchangeDriver::EndEarlyAfter(std::chrono::nanoseconds delay, Span span, Status (*error)()) {
  if (deadlines_[static_cast<std::size_t>(span)].set.exchange(true)) return;
  const Clock::Monotonic when = RealClock().Now() + delay;
  if (loop_->Inside()) return ArmDeadline(when, span, error);
  loop_->Post([self = shared_from_this(), when, span, error] {
    if (span == Span::kExchange || self->running_) self->ArmDeadline(when, span, error);
  });
}

void ExchangeDriver::ArmDeadline(Clock::Monotonic when, Span span, Status (*error)()) {
  if (ended_) return;
  Deadline& deadline = deadlines_[static_cast<std::size_t>(span)];
  deadline.driver = shared_from_this();
  deadline.error = error;
  loop_->Arm(deadline, when);
}

void ExchangeDriver::DisarmDeadline(Span span) {
  Deadline& deadline = deadlines_[static_cast<std::size_t>(span)];
  if (!deadline.armed()) return;
  loop_->Disarm(deadline);
  deadline.driver.reset();
}

void ExchangeDriver::Deadline::Fire() {
  if (const auto due = std::exchange(driver, nullptr)) due->EndEarly(error());
}

void ExchangeDriver::HandleEnded() {
  if (answer_over_) return;
  outcome_.error = early_error_;
  if (early_claimed_) {
    WriteError(early_error_);
    StartAnswer();
  } else {
    // A head is out, or in the hands of the step that runs: what follows it cannot be trusted.
    if (stream_ != nullptr) stream_->Cut();
  }
  EndIfQuiet();
}

void ExchangeDriver::WriteError(const Status& error) {
  outcome_.error = error;
  writing_error_ = true;
  try {
    if (service_.write_error) service_.write_error(*this, error);
  } catch (...) {
    (void)CaughtError("error writer");
  }
  if (!stored_.load()) SendPlain(error);
  writing_error_ = false;
}

void ExchangeDriver::SendPlain(const Status& error) {
  try {
    ResponseHead head;
    head.code = error.code();
    head.headers.Add("Content-Type", "text/plain; charset=utf-8");
    Send(std::move(head), field::Shorten(error.message()) + "\n");
  } catch (...) {
    (void)CaughtError("plain answer");
    if (stream_ != nullptr) stream_->Cut();
  }
}

// The error writer's answer is let in although the head is claimed; a step that runs on the pool
// meanwhile is on another thread, and shut out.
void ExchangeDriver::Send(ResponseHead head, Bytes body) {
  if (!(loop_->Inside() && writing_error_ && !stored_.load()) && !Claim()) return;
  head_ = std::move(head);
  answer_bytes_ = body.size();
  queue_.Append(std::move(body));
  kind_ = Kind::kSend;
  stored_.store(true);
}

void ExchangeDriver::Stream(ResponseHead head, std::unique_ptr<BodySource> body) {
  if (!(loop_->Inside() && writing_error_ && !stored_.load()) && !Claim()) return;
  head_ = std::move(head);
  source_ = std::move(body);
  kind_ = Kind::kStream;
  stored_.store(true);
}

// A verbatim head comes from another server: a value that ended its line would let that server
// write the next answer on this connection.
Status ExchangeDriver::Upgrade(ResponseHead head,
                               UniqueFunction<void(std::unique_ptr<Tunnel>)> on_open) {
  if (!request_.IsUpgrade()) {
    return Status(Reason::kBadRequest, "the request does not ask for an upgrade");
  }
  if (head.verbatim && (head.code != 101 || !ValidFields(head.headers))) {
    return Status(Reason::kInvalid, "the head of the upgrade is malformed");
  }
  if (!Claim()) return Status::Ok();
  head_ = std::move(head);
  on_open_ = std::move(on_open);
  kind_ = Kind::kUpgrade;
  stored_.store(true);
  return Status::Ok();
}

void ExchangeDriver::StartAnswer() {
  if (std::exchange(answer_started_, true)) return;
  if (!RunHeads()) {
    // The answer cannot be dressed as it must be: a bare 500 instead.
    DropSource();
    queue_.Clear();
    on_open_ = nullptr;
    stored_.store(false);
    writing_error_ = true;
    outcome_.error = Panicked();
    SendPlain(outcome_.error);
    writing_error_ = false;
    if (!stored_.load()) return;
  }
  outcome_.code = head_.code;
  queue_.SetTenant(tenant_);
  queue_.Charge();
  if (stream_ != nullptr) stream_->OnAnswer();
  if (kind_ != Kind::kStream) return;
  // It may go on for hours, with thousands beside it.
  head_.headers = Headers();
  request_.headers.ShrinkToFit();
}

bool ExchangeDriver::RunHeads() {
  // Filters learn from the call that an answer begins, whatever becomes of what they add.
  std::optional<ResponseHead> verbatim;
  if (head_.verbatim) verbatim = head_;
  for (std::size_t i = begun_.load(); i-- > 0;) {
    try {
      service_.filters[i]->Head(*this, head_);
    } catch (...) {
      (void)CaughtError(service_.filters[i]->name());
      return false;
    }
  }
  if (verbatim) head_ = *std::move(verbatim);
  return true;
}

ExchangeDriver::Filled ExchangeDriver::Fill(std::span<char> out) {
  Filled filled;
  for (int pulls = 0;; ++pulls) {
    filled.bytes += queue_.TakeTo(out.subspan(filled.bytes));
    if (filled.bytes == out.size() && !queue_.empty()) break;
    if (!source_) {
      filled.state = source_aborted_ ? FillState::kAbort : FillState::kEnd;
      break;
    }
    if (filled.bytes == out.size() || (filled.bytes > 0 && pulls >= kPullsAtOnce)) break;
    if (source_dry_ || pulls >= kPullsAtOnce) {
      filled.state = FillState::kWait;
      // More, but not now: others have their turn first.
      if (!source_dry_) Waker(*loop_, weak_from_this()).Wake();
      break;
    }
    PullSource();
    // A source that neither writes nor waits would keep this loop busy: others have their turn
    // first.
    if (source_ && !source_dry_ && queue_.empty()) pulls = kPullsAtOnce - 1;
  }
  queue_.Charge();
  outcome_.response_bytes += filled.bytes;
  return filled;
}

void ExchangeDriver::PullSource() {
  Pull pulled = Pull::kAbort;
  try {
    pulled = source_->Next(queue_, Waker(*loop_, weak_from_this()));
  } catch (...) {
    outcome_.error = CaughtError("body source");
  }
  source_dry_ = pulled == Pull::kWait;
  source_aborted_ = pulled == Pull::kAbort;
  if (pulled == Pull::kEnd || pulled == Pull::kAbort) DropSource();
}

// A wake-up may come late, after the answer is over or before it has begun.
void ExchangeDriver::OnWake() {
  source_dry_ = false;
  if (stream_ != nullptr && answer_started_ && !answer_over_) stream_->OnBodyReady();
}

void ExchangeDriver::DropSource() { std::exchange(source_, nullptr).reset(); }

void ExchangeDriver::AnswerOver(bool completed) {
  if (std::exchange(answer_over_, true)) return;
  const auto keep = shared_from_this();
  outcome_.completed = completed;
  if (!completed && outcome_.error.ok()) {
    outcome_.error = Status(Reason::kInternalError, "the answer was cut");
  }
  stream_ = nullptr;
  DropSource();
  on_open_ = nullptr;
  if (incoming_) incoming_->Stop();
  // Destroys the step's Resume, which ends the step.
  if (decoding_room_) decoding_room_->Stop();
  cut_.store(true);
  // Work that was ended early goes on; all other work has lost its purpose.
  if (!ended_early_.load()) root_.Cancel(Cancelled());
  EndIfQuiet();
}

// Claims the head, so that the step that still runs answers into the void.
void ExchangeDriver::PeerGone(const Status& why) {
  if (answer_over_) return;
  claimed_.store(true);
  if (outcome_.error.ok()) outcome_.error = why;
  AnswerOver(false);
}

void ExchangeDriver::EndIfQuiet() {
  if (!answer_over_ || running_ || std::exchange(ended_, true)) return;
  const auto keep = shared_from_this();
  DisarmDeadline(Span::kExchange);
  for (std::size_t i = begun_.load(); i-- > 0;) {
    try {
      service_.filters[i]->End(*this, outcome_);
    } catch (...) {
      (void)CaughtError(service_.filters[i]->name());
    }
  }
  if (ended_early_.load()) root_.Cancel(Cancelled());
  if (count_) --count_->live;
}

// ------------------------------------------------------------------------------ the request

std::shared_ptr<const std::string> ExchangeDriver::body() const {
  static const auto empty = std::make_shared<const std::string>();
  return incoming_ && incoming_->body() ? incoming_->body() : empty;
}

Step ExchangeDriver::CollectBody(std::size_t bytes_max) {
  if (!incoming_) return Step::Next();
  if (Status status = incoming_->CheckLength(bytes_max); !status.ok()) return status;
  if (!incoming_->WillCollect()) {
    return Status(Reason::kConflict, "the request's body is read as it comes");
  }
  return Step::Later([this, self = shared_from_this(), bytes_max](Resume resume) {
    if (loop_->Inside()) return incoming_->Collect(bytes_max, self, std::move(resume));
    loop_->Post([this, self, bytes_max, resume = std::move(resume)]() mutable {
      incoming_->Collect(bytes_max, self, std::move(resume));
    });
  });
}

Result<std::unique_ptr<ReadStream>> ExchangeDriver::OpenBody(OpenBodyOptions options) {
  if (!incoming_) {
    struct Nothing {
      std::shared_ptr<ExchangeDriver> exchange;  // Keeps what the collector refers to.
      std::unique_ptr<BodyCollector> body;
    };
    const auto nothing = std::make_shared<Nothing>(Nothing{shared_from_this(), NewCollector({})});
    (void)nothing->body->WillPassOn();
    return NewBodyStream(loop_, *nothing->body, options, nothing);
  }
  if (!incoming_->WillPassOn()) {
    return Status(Reason::kConflict, "the request's body was read already");
  }
  return NewBodyStream(loop_, *incoming_, options, shared_from_this());
}

void ExchangeDriver::ChargeTo(const Tenant& tenant) {
  decoding_.SetTenant(tenant);
  const auto charge = [this, tenant] {
    tenant_ = tenant;
    if (incoming_) incoming_->ChargeTo(tenant);
  };
  if (loop_->Inside()) return charge();
  loop_->Post([self = shared_from_this(), charge] { charge(); });
}

Step ExchangeDriver::ReserveDecoding(std::size_t bytes) {
  if (decoding_.TryResize(bytes)) return Step::Next();
  return Step::Later([this, self = shared_from_this(), bytes](Resume resume) {
    if (loop_->Inside()) return AwaitDecodingRoom(bytes, std::move(resume));
    loop_->Post([this, self, bytes, resume = std::move(resume)]() mutable {
      AwaitDecodingRoom(bytes, std::move(resume));
    });
  });
}

void ExchangeDriver::AwaitDecodingRoom(std::size_t bytes, Resume resume) {
  if (answer_over_) return resume(Step::Done());
  if (!decoding_room_) {
    decoding_room_ = std::make_unique<RoomWait>(*loop_, decoding_, service_.memory->room_wait_max);
  }
  decoding_room_->Start(bytes, shared_from_this(), [resume = std::move(resume)](bool room) mutable {
    resume(room ? Step::Next() : Step(NoMemoryForDecoding()));
  });
}

}  // namespace apiserver::v0::http
