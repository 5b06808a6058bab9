#include "server/health_probe.h"

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/runtime/time.h"

namespace apiserver::v0::server {

struct HealthProbe::Run {
  explicit Run(Context context) : ctx(std::move(context)) {}

  const Context ctx;
  Executor::Cancel cancel_timeout;
  // The two fields below are guarded by run_.
  std::vector<Done> waiting;
  std::optional<Status> overdue;
};

// The right to run the check once. It ends the run too if the pool drops it unrun.
class HealthProbe::Ticket {
 public:
  Ticket(std::shared_ptr<HealthProbe> probe, std::shared_ptr<Run> run)
      : probe_(std::move(probe)), run_(std::move(run)) {}
  Ticket(Ticket&&) = default;
  Ticket& operator=(Ticket&&) = delete;
  ~Ticket() {
    if (probe_) probe_->End(*run_, {Reason::kServiceUnavailable, "the server is shutting down"});
  }

  void Redeem() {
    const auto probe = std::exchange(probe_, nullptr);
    probe->End(*run_, probe->Call(run_->ctx));
  }

 private:
  std::shared_ptr<HealthProbe> probe_;
  std::shared_ptr<Run> run_;
};

HealthProbe::HealthProbe(Check check, Options options)
    : check_(std::move(check)), options_(std::move(options)) {}

Status HealthProbe::Call(const Context& ctx) const {
  try {
    return check_(ctx);
  } catch (const std::exception& bug) {
    return {Reason::kInternalError, std::string("exception: ") + bug.what()};
  } catch (...) {
    return {Reason::kInternalError, "exception of an unknown type"};
  }
}

void HealthProbe::Ask(Done done) {
  // A check that is not as quick as it claims fails here instead of stopping a loop.
  if (options_.pool == nullptr) return done(Call(options_.running.WithMayBlock(false)));
  std::shared_ptr<Run> run;
  std::optional<Status> overdue;
  Done told_now;
  bool begins = false;
  {
    auto current = run_.Lock();
    begins = *current == nullptr;
    if (begins) {
      *current = std::make_shared<Run>(
          Context::Child(options_.running, RealClock().Now() + options_.timeout));
    }
    run = *current;
    overdue = run->overdue;
    (overdue ? told_now : run->waiting.emplace_back()) = std::move(done);
  }
  // A check that hangs costs later requests nothing: they get its timeout at once.
  if (told_now) return told_now(*overdue);
  if (begins) Begin(run);
}

void HealthProbe::Begin(const std::shared_ptr<Run>& run) {
  Ticket ticket(shared_from_this(), run);
  run->cancel_timeout = options_.pool->PostAfter(
      options_.timeout, [self = shared_from_this(), run] { self->GiveUp(*run); });
  options_.pool->Post([ticket = std::move(ticket)]() mutable { ticket.Redeem(); });
}

void HealthProbe::End(Run& run, const Status& outcome) {
  std::vector<Done> waiting;
  {
    auto current = run_.Lock();
    waiting.swap(run.waiting);
    current->reset();
  }
  if (run.cancel_timeout) run.cancel_timeout();
  for (Done& done : waiting) done(outcome);
}

void HealthProbe::GiveUp(Run& run) {
  const Status late(Reason::kTimeout,
                    "not answered within " + runtime::FormatDuration(options_.timeout));
  std::vector<Done> waiting;
  {
    auto current = run_.Lock();
    if (current->get() != &run) return;  // It has just ended.
    run.overdue = late;
    waiting.swap(run.waiting);
  }
  run.ctx.Cancel(late);
  for (Done& done : waiting) done(late);
}

}  // namespace apiserver::v0::server
