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

// Where events go: k8s.io/apiserver/pkg/audit/types.go, union.go and metrics.go.
namespace apiserver::inline v0::audit {

// Counts under Kubernetes' names. Any thread.
class Metrics {
 public:
  explicit Metrics(metrics::Registry& registry);

  void ObserveEvent() { events_.Add(); }
  void ObservePolicyLevel(Level level);
  void ObserveRejected() { rejected_.Add(); }
  // Counts `impacted` as not recorded by `plugin`, and logs why; what they say is not logged.
  void HandlePluginError(LogSink& log, std::string_view plugin, const Status& error,
                         std::size_t impacted);

 private:
  metrics::Counter& events_;
  metrics::Family<metrics::Counter>& errors_;
  metrics::Family<metrics::Counter>& levels_;
  // A series is shown from its first request on; its address is kept, for every request is here.
  std::array<std::atomic<metrics::Counter*>, kLevels> kept_levels_ = {};
  metrics::Counter& rejected_;
};

// What a backend is given when it starts; outlives it.
struct BackendEnvironment {
  Metrics* metrics = nullptr;
  LogSink* log = &NullLogSink();
  const Clock* clock = &RealClock();
};

// Takes events. Run() once, before the first event; ProcessEvents() from any thread; after
// Shutdown() events are dropped and counted.
class Backend {
 public:
  // Whether the events were recorded, or may be taken as such.
  using Done = UniqueFunction<void(bool processed)>;

  virtual ~Backend() = default;
  // "log", "buffered<webhook>".
  virtual std::string name() const = 0;
  // Only the first call counts.
  virtual Status Run(const BackendEnvironment& environment) = 0;
  // Must not wait. `done`, unless it is empty, is called exactly once, at once or later, on any
  // thread, and must not wait either. Failures are counted and logged by the backend.
  virtual void ProcessEvents(Events events, Done done) = 0;
  // The same of one event that nobody waits for. As ProcessEvents, unless a backend is done with
  // the event at once and need not share it.
  virtual void ProcessEvent(Event&& event);
  // Whether a request should now be held until its first event is `done`: the backend is strict, or
  // has fallen behind and must not drop.
  virtual bool Holds() const = 0;
  // Waits at most `grace` until everything it was given is where it belongs; what is left then is
  // dropped and counted. Idempotent.
  virtual void Shutdown(std::chrono::milliseconds grace) = 0;
};
using BackendPtr = std::shared_ptr<Backend>;

// Hands everything to all of them; null ones are left out. Null: none is left. One alone is itself.
BackendPtr NewUnion(std::vector<BackendPtr> backends);
// Takes failures of `backend` for success: --audit-*-mode=blocking.
BackendPtr NewIgnoreErrors(BackendPtr backend);

}  // namespace apiserver::inline v0::audit
