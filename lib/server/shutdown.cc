#include "server/shutdown.h"

#include <algorithm>
#include <optional>
#include <string>

#include "apiserver/base/clock.h"

namespace apiserver::v0::server {

namespace {

using std::chrono::milliseconds;

// The time until connected clients have been told to go elsewhere; requests that they sent before
// they knew are still answered.
constexpr milliseconds kLastRequests(2000);
// The time for connections whose requests are answered, if the listener stops last.
constexpr milliseconds kConnectionsGrace(2000);
// The time for work that goes on although no client waits for its answer any more.
constexpr std::chrono::minutes kLastWait(1);

void DelayAndRunHooks(const ShutdownOptions& options, const ShutdownParts& parts,
                      LifecycleSignals& signals) {
  // The delay and the hooks run side by side, as in Go: hooks run while load balancers notice.
  Thread hooks("pre-shutdown", [&parts, &signals] {
    // An error is logged; stopping goes on.
    (void)parts.pre_shutdown_hooks.Run(parts.context, signals.log);
    signals.pre_shutdown_hooks_stopped.Signal();
  });
  if (options.delay.count() > 0) {
    Notification never;
    (void)never.WaitFor(options.delay);
  }
  signals.after_shutdown_delay_duration.Signal();
  hooks.Join();
}

// Reports how many requests are left while a server drains. A server without any has no such job.
class DrainProgress {
 public:
  explicit DrainProgress(const ShutdownParts& parts) : parts_(parts) { Tell(); }

  void Tell() {
    const InFlight::Left left = parts_.in_flight.left();
    const std::size_t all = left.watches + left.requests;
    const bool first = !job_ && all > 0;
    if (first) {
      job_.emplace(
          parts_.progress, RealClock(),
          ProgressReporter::Job{.what = "drain", .subject = parts_.name, .unit = "requests"});
    }
    if (!job_) return;
    job_->UpdateLeft(all, left.ToString());
    if (first) job_->Announce();
  }
  // Calls `wait` with short times until it returns true; false: `longest` has passed.
  bool TellWhile(milliseconds longest, const std::function<bool(milliseconds)>& wait) {
    const Clock::Monotonic until = RealClock().Now() + longest;
    for (;;) {
      const auto left = std::chrono::ceil<milliseconds>(until - RealClock().Now());
      if (wait(std::clamp(left, milliseconds(0), ProgressReporter::kInterval))) return true;
      if (left <= ProgressReporter::kInterval) return false;
      Tell();
    }
  }
  void Finish(bool drained) {
    Tell();
    if (job_) job_->Finish(drained ? Status() : Status(Reason::kTimeout, "its time is over"));
  }

 private:
  const ShutdownParts& parts_;
  std::optional<ProgressReporter> job_;
};

// Returns whether all requests were answered in time.
bool Drain(const ShutdownOptions& options, const ShutdownParts& parts, LifecycleSignals& signals) {
  const Clock::Monotonic until = RealClock().Now() + options.grace;
  DrainProgress progress(parts);
  const bool listener_first = parts.listener != nullptr && !options.send_retry_after;
  // Connections are drained before any request on them is refused, so that clients move their next
  // requests in time.
  if (listener_first) parts.listener->Drain();
  parts.in_flight.EndLongRunning(options.watch_grace, [&progress] { progress.Tell(); });
  if (listener_first) {
    (void)progress.TellWhile(std::min(kLastRequests, options.grace), [&parts](milliseconds step) {
      return parts.listener->WaitUntilNoConnections(step);
    });
  }
  parts.in_flight.Close();
  const auto left = std::chrono::ceil<milliseconds>(until - RealClock().Now());
  const bool drained = progress.TellWhile(
      std::max(left, milliseconds(0)),
      [&parts](milliseconds step) { return parts.in_flight.WaitUntilEmpty(step); });
  progress.Finish(drained);
  if (!drained) {
    Log(signals.log, LogLevel::kWarning, "requests were still running when the server stopped",
        {{"requests", parts.in_flight.left().ToString()}});
  }
  return drained;
}

}  // namespace

void ShutDown(const ShutdownOptions& options, const ShutdownParts& parts,
              LifecycleSignals& signals) {
  signals.shutdown_initiated.Signal();
  DelayAndRunHooks(options, parts, signals);
  signals.not_accepting_new_request.Signal();
  parts.context.ctx.Cancel({Reason::kServiceUnavailable, "the server is stopping"});

  const bool drained = Drain(options, parts, signals);
  signals.in_flight_requests_drained.Signal();
  if (parts.flush) parts.flush();

  if (parts.listener) {
    const milliseconds grace = options.send_retry_after ? kConnectionsGrace : options.grace;
    parts.listener->Stop(drained ? grace : milliseconds(0));
  }
  if (!drained) parts.in_process.Cut();
  signals.http_server_stopped_listening.Signal();
  parts.in_flight.Seal(kLastWait);
  // A write on its way to disk holds no thread, and comes back to this server all the same.
  if (!drained) (void)parts.in_flight.WaitUntilEmpty(kLastWait);
}

}  // namespace apiserver::v0::server
