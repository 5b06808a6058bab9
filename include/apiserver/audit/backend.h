#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/audit/event.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/function.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"

// The destinations of audit events: k8s.io/apiserver/pkg/audit/types.go, union.go and metrics.go.
namespace apiserver::inline v0::audit {

// The metrics of auditing, under Kubernetes' names. Any thread.
class Metrics {
 public:
  // Registers them in `registry`, which must outlive this.
  explicit Metrics(metrics::Registry& registry);

  // Counts an event that was handed to the backend.
  void ObserveEvent() { events_.Add(); }
  // Counts a request by the level of the policy.
  void ObservePolicyLevel(Level level);
  // Counts a request that was refused because its event could not be recorded.
  void ObserveRejected() { rejected_.Add(); }
  // Counts `impacted` events as not recorded by `plugin`, and logs the error, but not their
  // contents.
  void HandlePluginError(LogSink& log, std::string_view plugin, const Status& error,
                         std::size_t impacted);

 private:
  metrics::Counter& events_;
  metrics::Family<metrics::Counter>& errors_;
  metrics::Family<metrics::Counter>& levels_;
  // A series is shown from its first request on; its address is kept, since every request counts
  // here.
  std::array<std::atomic<metrics::Counter*>, kLevels> kept_levels_ = {};
  metrics::Counter& rejected_;
};

// The services of a backend, given to it at its start; they outlive it.
struct BackendEnvironment {
  Metrics* metrics = nullptr;
  LogSink* log = &NullLogSink();
  const Clock* clock = &RealClock();
};

// Records events. Run() is called once, before the first event; ProcessEvents() from any thread;
// after Shutdown() events are dropped and counted.
class Backend {
 public:
  // `processed`: the events were recorded, or may be regarded as such. Called on any thread; must
  // not block.
  using Done = UniqueFunction<void(bool processed)>;

  virtual ~Backend() = default;
  // Returns "log", "buffered<webhook>".
  virtual std::string name() const = 0;
  // Starts the backend. Only the first call counts.
  virtual Status Run(const BackendEnvironment& environment) = 0;
  // Takes events; must not block. `done`, unless it is empty, is called exactly once, at once or
  // later, on any thread, and must not block either. The backend counts and logs failures.
  virtual void ProcessEvents(Events events, Done done) = 0;
  // The same for one event without `done`. A backend that handles the event at once may override
  // it, and need not share the event.
  virtual void ProcessEvent(Event&& event);
  // The same for a backend that handles an event at once and does not keep it, which spares its
  // copy. Called under the lock of the request's AuditContext, which it must not use. `kept` is the
  // same for all events of the request. Returns false if it has not handled the event: the caller
  // calls ProcessEvent().
  virtual bool ProcessAtOnce(const Event& /*event*/, RequestJson& /*kept*/) { return false; }
  // True if a request must be held until `done` of its first event: the backend is strict, or has
  // fallen behind and must not drop events.
  virtual bool Holds() const = 0;
  // Waits at most `grace` until all events are recorded; further ones are dropped and counted.
  // Idempotent.
  virtual void Shutdown(std::chrono::milliseconds grace) = 0;
};
using BackendPtr = std::shared_ptr<Backend>;

// Passes all events to each backend; null ones are left out. Null: none is left. A single one is
// returned itself.
BackendPtr NewUnion(std::vector<BackendPtr> backends);
// Reports failures of `backend` as success: --audit-*-mode=blocking.
BackendPtr NewIgnoreErrors(BackendPtr backend);

}  // namespace apiserver::inline v0::audit
