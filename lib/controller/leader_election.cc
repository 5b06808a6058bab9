#include "apiserver/controller/leader_election.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/sync.h"
#include "apiserver/meta/time.h"
#include "base/status_macros.h"
#include "controller/lease_lock.h"
#include "text/duration.h"

namespace apiserver::v0::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr double kJitter = 1.2;  // Upstream's JitterFactor.
// The period at which a clock of a test is read, whose time passes without waking anybody.
constexpr auto kTestClockPeriod = milliseconds(2);
// The requests to release a lease that is renewed at the same time.
constexpr int kReleaseTries = 5;

class LeaseElector final : public LeaderElector {
 public:
  explicit LeaseElector(LeaderElectionOptions options)
      : options_(std::move(options)),
        clock_(*options_.clock),
        lock_(*options_.client, options_.namespace_, options_.name, options_.labels) {
    if (options_.metrics == nullptr) return;
    status_ = &options_.metrics
                   ->Gauges({"leader_election_master_status",
                             "[ALPHA] Whether this process holds the lease `name`: 1, or 0.",
                             {"name"}})
                   .With({options_.name});
    slow_paths_ =
        &options_.metrics
             ->Counters({"leader_election_slowpath_total",
                         "[ALPHA] Renewals of the lease `name` that had to read it first.",
                         {"name"}})
             .With({options_.name});
  }

  Status Run(const Context& ctx) override;
  bool IsLeader() const override {
    const auto state = state_.Lock();
    return state->phase == Phase::kLeading && clock_.Now() < state->until;
  }
  std::string Leader() const override { return state_.Lock()->observed.holder; }
  Status Check(nanoseconds tolerance) const override;

 private:
  enum class Phase : std::uint8_t { kCandidate, kLeading, kEnded };
  struct State {
    LeaseRecord observed;  // As last read or written.
    Clock::Monotonic observed_at;
    bool running = false;  // Run() is.
    Phase phase = Phase::kCandidate;
    Clock::Monotonic until;  // The end of the leadership, unless it is renewed before.
    bool stopped = false;    // Run()'s context is done.
    Status last_error;       // Of the renewals since the last one that succeeded.
    Status why;              // The reason of the end. OK: stopped, or not ended.

    bool over() const { return stopped || phase == Phase::kEnded; }
  };

  // Waits until `time` or until `done` holds for the state. The time of `ctx` ends it, too.
  template <class Done>
  void WaitUntil(const Context& ctx, Clock::Monotonic time, Done done);
  // Waits for the lease. False: `ctx` is done.
  bool Acquire(const Context& ctx);
  Status Lead(const Context& ctx);
  // Renews until the leadership ends.
  void Renew(const Context& leading);
  // Ends the leadership when its time has passed, or when the renewals have ended it.
  void Guard(const Context& leading);
  bool EndIfLate();
  void End(Status why);
  void Release();

  // One attempt to become or to stay leader: upstream's tryAcquireOrRenew.
  Status TryAcquireOrRenew(const Context& ctx);
  Status Held(const LeaseRecord& record, Clock::Monotonic began);
  void Observe(const LeaseRecord& record);
  bool Valid(Clock::Monotonic now) const {
    const auto state = state_.Lock();
    return state->observed_at + seconds(state->observed.duration_seconds) > now;
  }
  void ReportLeader();
  Context Limited(const Context& ctx, Clock::Monotonic time) const {
    return Context::Child(ctx, RealClock().Now() + (time - clock_.Now()));
  }
  void Say(LogLevel level, const char* message, const std::string& detail = "") const {
    Log(*options_.log, level, message,
        {{"lock", lock_.Describe()}, {"identity", options_.identity}, {"detail", detail}});
  }

  const LeaderElectionOptions options_;
  const Clock& clock_;
  LeaseLock lock_;                    // Of Run()'s thread.
  std::string reported_;              // Of Run()'s thread.
  metrics::Gauge* status_ = nullptr;  // Null: nothing is counted.
  metrics::Counter* slow_paths_ = nullptr;
  Guarded<State> state_;
};

template <class Done>
void LeaseElector::WaitUntil(const Context& ctx, Clock::Monotonic time, Done done) {
  for (;;) {
    const Clock::Monotonic now = RealClock().Now();
    const nanoseconds left = time - clock_.Now();
    if (left <= nanoseconds(0) || ctx.done()) return;
    Clock::Monotonic wake = now + left;
    if (&clock_ != &RealClock()) wake = std::min(wake, now + kTestClockPeriod);
    if (ctx.deadline()) wake = std::min(wake, *ctx.deadline());
    auto state = state_.Lock();
    if (state.WaitUntil(wake, [&] { return done(*state); })) return;
  }
}

Status LeaseElector::Run(const Context& ctx) {
  {
    auto state = state_.Lock();
    state->running = true;
    state->stopped = false;
    state->phase = Phase::kCandidate;
    state->last_error = state->why = Status::Ok();
  }
  const auto stop = ctx.OnDone([this] {
    state_.Lock()->stopped = true;
    state_.NotifyAll();
  });
  Status lost = Acquire(ctx) ? Lead(ctx) : Status::Ok();
  state_.Lock()->running = false;
  return lost;
}

bool LeaseElector::Acquire(const Context& ctx) {
  Say(LogLevel::kInfo, "attempting to acquire leader lease");
  while (!ctx.done()) {
    const Status tried = TryAcquireOrRenew(Limited(ctx, clock_.Now() + options_.renew_deadline));
    ReportLeader();
    if (tried.ok()) return true;
    Say(LogLevel::kDebug, "failed to acquire lease", tried.ToString());
    const double share = static_cast<double>(options_.random->Below(1001)) / 1000;
    const auto wait = options_.retry_period * (1 + kJitter * share);
    WaitUntil(ctx, clock_.Now() + std::chrono::duration_cast<nanoseconds>(wait),
              [](const State& state) { return state.stopped; });
  }
  return false;
}

Status LeaseElector::Lead(const Context& ctx) {
  Say(LogLevel::kInfo, "became leader");
  if (status_ != nullptr) status_->Set(1);
  const Context leading = Context::Child(ctx);
  Thread work("leader", [&] { options_.on_started_leading(leading); });
  Thread guard("leader-guard", [&] { Guard(leading); });
  Renew(leading);
  guard.Join();
  // Waits for the work, so that no other candidate leads beside it if it ends in time.
  work.Join();
  if (options_.release) Release();
  return state_.Lock()->why;
}

void LeaseElector::Renew(const Context& leading) {
  for (;;) {
    WaitUntil(leading, clock_.Now() + options_.retry_period, std::mem_fn(&State::over));
    if (leading.done() || state_.Lock()->over()) return End(Status::Ok());
    const Clock::Monotonic until = state_.Lock()->until;
    const Status tried = TryAcquireOrRenew(Limited(leading, until));
    ReportLeader();
    if (tried.ok()) continue;
    Say(LogLevel::kWarning, "failed to renew lease", tried.ToString());
    if (const std::string holder = Leader(); holder != options_.identity) {
      return End(Status(Reason::kConflict,
                        "lease " + lock_.Describe() + " was taken by \"" + holder + "\""));
    }
    state_.Lock()->last_error = tried;
  }
}

void LeaseElector::Guard(const Context& leading) {
  for (;;) {
    const Clock::Monotonic until = state_.Lock()->until;
    WaitUntil(leading, until, std::mem_fn(&State::over));
    if (leading.done() || EndIfLate()) break;
  }
  End(Status::Ok());
  const Status why = state_.Lock()->why;
  if (status_ != nullptr) status_->Set(0);
  leading.Cancel(why.ok() ? Status(Reason::kTimeout, "the election was stopped") : why);
  Say(why.ok() ? LogLevel::kInfo : LogLevel::kError, "stopped leading", why.ToString());
  if (options_.on_stopped_leading) options_.on_stopped_leading(why);
}

bool LeaseElector::EndIfLate() {
  auto state = state_.Lock();
  if (state->over()) return true;
  if (clock_.Now() < state->until) return false;
  std::string message = "lease " + lock_.Describe() + " was not renewed within " +
                        text::FormatDuration(options_.renew_deadline);
  if (!state->last_error.ok()) message += ": " + state->last_error.ToString();
  state->phase = Phase::kEnded;
  state->why = Status(Reason::kTimeout, std::move(message));
  state_.NotifyAll();
  return true;
}

// The first reason counts.
void LeaseElector::End(Status why) {
  auto state = state_.Lock();
  if (std::exchange(state->phase, Phase::kEnded) == Phase::kEnded) return;
  if (!state->stopped) state->why = std::move(why);
  state_.NotifyAll();
}

void LeaseElector::Release() {
  const Context ctx = Limited(Context::Background(), clock_.Now() + options_.renew_deadline);
  Status released;
  for (int i = 0; i < kReleaseTries; ++i) {
    const Result<LeaseRecord> held = lock_.Get(ctx);
    if (held.ok() && held->holder != options_.identity) return Observe(*held);
    const std::string now = meta::MicroTimestamp(clock_);
    const LeaseRecord empty{.duration_seconds = 1,
                            .acquire_time = now,
                            .renew_time = now,
                            .transitions = held.ok() ? held->transitions : 0};
    released = held.ok() ? lock_.Update(ctx, empty) : held.status();
    if (released.ok()) return Observe(empty);
    // A renewal that was interrupted may have come between.
    if (released.reason() != Reason::kConflict) break;
  }
  Say(LogLevel::kError, "failed to release lease", released.ToString());
}

Status LeaseElector::TryAcquireOrRenew(const Context& ctx) {
  // Before any request: what the server writes later is not older.
  const Clock::Monotonic began = clock_.Now();
  const std::string now = meta::MicroTimestamp(clock_);
  LeaseRecord wanted{
      .holder = options_.identity,
      .duration_seconds = std::chrono::ceil<seconds>(options_.lease_duration).count(),
      .acquire_time = now,
      .renew_time = now};
  const LeaseRecord observed = state_.Lock()->observed;
  if (observed.holder == options_.identity && Valid(began)) {
    wanted.acquire_time = observed.acquire_time;
    wanted.transitions = observed.transitions;
    const Status updated = lock_.Update(ctx, wanted);
    if (updated.ok()) return Held(wanted, began);
    Say(LogLevel::kDebug, "failed to update lease, reading it", updated.ToString());
  }

  const Result<LeaseRecord> old = lock_.Get(ctx);
  if (!old.ok()) {
    if (old.status().reason() != Reason::kNotFound) return old.status();
    wanted.acquire_time = now;
    wanted.transitions = 0;
    RETURN_IF_ERROR(lock_.Create(ctx, wanted));
    return Held(wanted, began);
  }
  if (!(*old == observed)) Observe(*old);
  const bool own = old->holder == options_.identity;
  if (!own && !old->holder.empty() && Valid(began)) {
    return Status(Reason::kConflict, "lease is held by \"" + old->holder + "\"");
  }
  wanted.acquire_time = own ? old->acquire_time : now;
  wanted.transitions = old->transitions + (own ? 0 : 1);
  if (own && slow_paths_ != nullptr) slow_paths_->Add();
  RETURN_IF_ERROR(lock_.Update(ctx, wanted));
  return Held(wanted, began);
}

// Begins or prolongs the leadership. One whose time has passed does not come back.
Status LeaseElector::Held(const LeaseRecord& record, Clock::Monotonic began) {
  const Clock::Monotonic until = began + options_.renew_deadline;
  const Clock::Monotonic now = clock_.Now();
  auto state = state_.Lock();
  state->observed = record;
  state->observed_at = now;
  const bool leading = state->phase == Phase::kLeading;
  if (state->phase == Phase::kEnded || now >= (leading ? state->until : until)) {
    return Status(Reason::kTimeout, "the lease was renewed too late");
  }
  state->phase = Phase::kLeading;
  state->until = until;
  state->last_error = Status::Ok();
  return Status::Ok();
}

void LeaseElector::Observe(const LeaseRecord& record) {
  auto state = state_.Lock();
  state->observed = record;
  state->observed_at = clock_.Now();
}

void LeaseElector::ReportLeader() {
  const std::string leader = Leader();
  if (leader == reported_) return;
  reported_ = leader;
  if (options_.on_new_leader) options_.on_new_leader(leader);
}

Status LeaseElector::Check(nanoseconds tolerance) const {
  const auto state = state_.Lock();
  if (!state->running || state->observed.holder != options_.identity) return Status::Ok();
  if (clock_.Now() - state->observed_at <= options_.lease_duration + tolerance) return Status::Ok();
  return Status(Reason::kInternalError,
                "failed election to renew leadership on lease " + options_.name);
}

Status Complaint(const LeaderElectionOptions& options) {
  const auto refuse = [](const char* why) { return Status(Reason::kInvalid, why); };
  const auto jittered = std::chrono::duration_cast<nanoseconds>(options.retry_period * kJitter);
  if (options.client == nullptr) return refuse("client is required");
  if (options.namespace_.empty() || options.name.empty()) {
    return refuse("namespace and name of the lease are required");
  }
  if (options.identity.empty()) return refuse("Lock identity is empty");
  if (!options.on_started_leading) return refuse("on_started_leading is required");
  if (options.retry_period <= nanoseconds(0)) {
    return refuse("retryPeriod must be greater than zero");
  }
  if (options.lease_duration <= options.renew_deadline) {
    return refuse("leaseDuration must be greater than renewDeadline");
  }
  if (options.renew_deadline <= jittered) {
    return refuse("renewDeadline must be greater than retryPeriod*JitterFactor");
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<LeaderElector>> NewLeaderElector(LeaderElectionOptions options) {
  RETURN_IF_ERROR(Complaint(options));
  return std::make_unique<LeaseElector>(std::move(options));
}

}  // namespace apiserver::v0::controller
