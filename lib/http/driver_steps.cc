#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <thread>
#include <utility>

#include "apiserver/base/sync.h"
#include "http/driver.h"

// The steps of an exchange: filters and handler, one after the other, on the loop or on the pool.
namespace apiserver::v0::http {
namespace {

// Limits the retries, and sets the pause between them, of a signal for which there was no memory.
constexpr int kDeliveriesMax = 1000;
constexpr auto kDeliveryPause = std::chrono::milliseconds(1);

}  // namespace

// The state behind a Resume. Each Step::Later has its own, so that a late Resume cannot touch a
// later step.
struct Resume::Target {
  enum Bits : std::uint32_t { kStarted = 1, kResumed = 2, kAbandoned = 4 };

  explicit Target(std::shared_ptr<ExchangeDriver> exchange) : driver(std::move(exchange)) {}

  // Gives the reference away on every way out: the exchange may be over, and its service gone,
  // before this thread runs on.
  void Resumed(Step with) {
    step.emplace(std::move(with));
    const auto before = bits.fetch_or(kResumed);
    // While `start` still runs, its thread goes on; see BeginLater.
    if ((before & kStarted) != 0 && (before & kAbandoned) == 0) {
      return ExchangeDriver::SignalWith(std::move(driver), ExchangeDriver::kResumed);
    }
    if (starter == std::this_thread::get_id()) return driver.reset();
    ExchangeDriver::SignalWith(std::move(driver), 0);
  }

  std::shared_ptr<ExchangeDriver> driver;
  const std::thread::id starter = std::this_thread::get_id();
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

void ExchangeDriver::Attach(ServerStream& stream) {
  stream_ = &stream;
  if (incoming_) incoming_->Attach(stream);
  running_ = true;
}

void ExchangeDriver::Start(ServerStream& stream) {
  Attach(stream);
  Advance(Step::Next(), true);
}

Step ExchangeDriver::BeginAt(std::size_t index) {
  const bool handler = index >= service_.filters.size();
  if (index > service_.filters.size()) {
    return Status(Reason::kInternalError, "the request was passed on by its last handler");
  }
  if (!handler) begun_.store(static_cast<std::uint32_t>(index + 1), std::memory_order_release);
  try {
    return handler ? service_.handler(*this) : service_.filters[index]->Begin(*this);
  } catch (...) {
    return CaughtInStep(handler ? "handler" : service_.filters[index]->name());
  }
}

// Begins one filter after the other, for as long as they return Step::Next. A request meets dozens,
// most of which do little: the loop is as tight as it can be.
Step ExchangeDriver::BeginNext() {
  const std::size_t count = service_.filters.size();
  std::uint32_t index = next_;
  try {
    while (index < count) {
      const Filter& filter = *service_.filters[index];
      next_ = ++index;
      begun_.store(index, std::memory_order_release);
      Step step = filter.Begin(*this);
      if (step.kind_ != Step::Kind::kNext || cut_.load()) return step;
    }
  } catch (...) {
    return CaughtInStep(service_.filters[index - 1]->name());
  }
  return BeginAt(next_++);
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
  if (signals_.fetch_or(what) == 0) DeliverTo(*loop_, shared_from_this());
}

// Delivers though another signal is on its way: that one may be handled before this returns.
void ExchangeDriver::SignalWith(std::shared_ptr<ExchangeDriver> self, std::uint32_t what) {
  const std::shared_ptr<Loop> loop = self->loop_;
  self->signals_.fetch_or(what);
  DeliverTo(*loop, std::move(self));
}

void ExchangeDriver::DeliverTo(Loop& loop, std::shared_ptr<LoopEvent> event) {
  for (int tries = kDeliveriesMax;; --tries) {
    try {
      return loop.Deliver(std::move(event));
    } catch (const std::bad_alloc&) {
      if (loop.Inside() || tries == 0) throw;
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
  if (in_line_ && MayAnswerInLine()) return;
  if (stored_.load() && !answer_over_) StartAnswer();
  LeaveSteps();
}

void ExchangeDriver::LeaveSteps() {
  LetRequestGo();
  EndIfQuiet();
}

// A client that reads its answer slowly does not keep the memory of its request.
void ExchangeDriver::LetRequestGo() {
  if (incoming_) incoming_->LetGo();
  decoding_.Resize(0);
}

}  // namespace apiserver::v0::http
