#include "server/shutdown.h"

#include <algorithm>
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

// Returns whether all requests were answered in time.
bool Drain(const ShutdownOptions& options, const ShutdownParts& parts, LifecycleSignals& signals) {
  const Clock::Monotonic until = RealClock().Now() + options.grace;
  const bool listener_first = parts.listener != nullptr && !options.send_retry_after;
  // Connections are drained before any request on them is refused, so that clients move their next
  // requests in time.
  if (listener_first) parts.listener->Drain();
  parts.in_flight.EndLongRunning(options.watch_grace);
  if (listener_first) {
    (void)parts.listener->WaitUntilNoConnections(std::min(kLastRequests, options.grace));
  }
  parts.in_flight.Close();
  const auto left = std::chrono::ceil<milliseconds>(until - RealClock().Now());
  const bool drained = parts.in_flight.WaitUntilEmpty(std::max(left, milliseconds(0)));
  if (!drained) {
    Log(signals.log, LogLevel::kWarning, "requests were still running when the server stopped",
        {{"requests", std::to_string(parts.in_flight.size())}});
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
