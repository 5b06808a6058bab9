#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/status.h"
#include "apiserver/client/informer.h"
#include "apiserver/controller/namespaced_name.h"
#include "apiserver/controller/rate_limiter.h"
#include "apiserver/controller/work_queue.h"

namespace apiserver::inline v0::controller {

// The result of a reconciler that has succeeded.
struct ReconcileResult {
  // The key comes again after this time. Zero: when something changes.
  std::chrono::nanoseconds requeue_after = {};
};

// Makes the world as the object `key` wants it to be, which may be gone by now: called for every
// change, and again after each error, it compares and repairs and counts on no event.
// sigs.k8s.io/controller-runtime/pkg/reconcile. Called on a worker's thread, or on the
// pool, for different keys at the same time if there are several workers; it may block. `ctx` ends
// when the controller stops. An exception counts as an error.
using Reconciler =
    std::function<Result<ReconcileResult>(const Context& ctx, const NamespacedName& key)>;

// Options of a Controller.
struct ControllerOptions {
  std::string name;      // Required. It is in log lines and metrics.
  Reconciler reconcile;  // Required.
  // The most keys that are worked on at a time.
  int workers = 1;
  // Runs the reconciler, for which no thread is kept then. Must be a pool whose tasks may block,
  // and outlive Stop(). Null: each worker is a thread.
  Executor* pool = nullptr;
  // Says how long a key waits after an error. Null: NewRateLimiter() with its defaults.
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;
  // Counts the queue's metrics and, by controller, those of controller-runtime:
  // controller_runtime_reconcile_total (result: success, requeue_after or error),
  // _reconcile_errors_total, _reconcile_panics_total (exceptions), _reconcile_time_seconds,
  // _active_workers and _max_concurrent_reconciles. Outlives the controller. Null: nothing is
  // counted.
  metrics::Registry* metrics = nullptr;
  LogSink* log = &NullLogSink();  // Outlives the controller.
};

// Workers that take the keys of changed objects from a queue and reconcile them:
// sigs.k8s.io/controller-runtime/pkg/controller.
//
//   auto pets = controller::NewController({.name = "pets", .reconcile = reconcile});
//   auto informer = client::NewInformer(*client, {.target = target,
//                                                 .handlers = {EnqueueObject(pets->queue())}});
//   informer->Start();
//   pets->Start({informer.get()});
//   …
//   informer->Stop();
//
// The controller is made first and goes last: handlers of informers hold its queue. Start and Stop
// belong to the owner.
class Controller {
 public:
  virtual ~Controller() = default;  // Stops.

  // Returns the queue that handlers add keys to. Any thread.
  virtual WorkQueue& queue() = 0;
  // Starts the workers, which begin once all of `informers` have seen their collections. They must
  // outlive Stop(). Call it once.
  virtual void Start(std::vector<const client::Informer*> informers) = 0;
  // Cancels the reconcilers' context, and waits for the workers. Keys that wait are dropped.
  // Idempotent; not to be called by a reconciler.
  virtual void Stop() = 0;
};

// Makes a controller, which does nothing before Start().
std::unique_ptr<Controller> NewController(ControllerOptions options);

}  // namespace apiserver::inline v0::controller
