#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"
#include "apiserver/controller/namespaced_name.h"
#include "apiserver/controller/rate_limiter.h"

namespace apiserver::inline v0::controller {

// Options of a WorkQueue.
struct WorkQueueOptions {
  // The value of the metrics' label `name`. Empty: nothing is counted.
  std::string name = {};
  // Counts under client-go's names: workqueue_depth, workqueue_adds_total,
  // workqueue_queue_duration_seconds, workqueue_work_duration_seconds, workqueue_retries_total,
  // workqueue_unfinished_work_seconds and workqueue_longest_running_processor_seconds. Outlives the
  // queue. Null: nothing is counted.
  metrics::Registry* metrics = nullptr;
  // Says how long keys of AddRateLimited() wait. Null: NewRateLimiter() with its defaults.
  std::shared_ptr<RateLimiter> rate_limiter = nullptr;
  // Called when there is a key for a worker, or will be one `after` so much time: workers that are
  // not in Get() then call TryGet() until it returns nothing. Called on the thread that adds the
  // key or is done with it, without a lock held; must not block. Null: workers wait in Get().
  std::function<void(std::chrono::nanoseconds after)> on_ready = nullptr;
  // Outlives the queue.
  const Clock* clock = &RealClock();
};

// The keys that wait for workers: k8s.io/client-go/util/workqueue, its delaying and rate limiting
// queues in one.
//
// A key that is added several times before a worker takes it is worked on once, and no key is
// worked on by two workers at the same time: one that is added meanwhile follows when the first has
// called Done(). So a worker sees, after the last Add() of a key, everything that was before it.
//
//   while (const auto key = queue->Get()) {
//     if (Work(*key).ok()) queue->Forget(*key);
//     else queue->AddRateLimited(*key);
//     queue->Done(*key);
//   }
//
// All methods may be called from any thread. Only Get() and ShutDownWithDrain() wait; no thread may
// be in them when the queue is destroyed.
class WorkQueue {
 public:
  virtual ~WorkQueue() = default;

  // Adds `key` unless it waits already. Nothing happens once the queue is shut down.
  virtual void Add(NamespacedName key) = 0;
  // Adds `key` once `delay` has passed; at once if that is zero or less. Of several delays of a key
  // the one that ends first counts.
  virtual void AddAfter(NamespacedName key, std::chrono::nanoseconds delay) = 0;
  // Adds `key` after the time that the rate limiter says: for a key that has failed.
  virtual void AddRateLimited(NamespacedName key) = 0;
  // Forgets the failures of `key`, whose next one will wait for the shortest time again. It stays
  // in the queue.
  virtual void Forget(const NamespacedName& key) = 0;
  // Returns how often `key` has been added by AddRateLimited() since it was last forgotten.
  virtual int Requeues(const NamespacedName& key) const = 0;

  // Waits for a key and takes it; Done() must follow. nullopt: the queue is shut down and empty.
  [[nodiscard]] virtual std::optional<NamespacedName> Get() = 0;
  // The same without waiting. nullopt: no key is there now.
  [[nodiscard]] virtual std::optional<NamespacedName> TryGet() = 0;
  // Ends the work on a key that was taken. If it was added meanwhile, it waits again.
  virtual void Done(const NamespacedName& key) = 0;

  // Ends the queue: further keys are not taken up, those that wait for a delay are dropped, those
  // that wait for a worker are still given out. Idempotent.
  virtual void ShutDown() = 0;
  // The same, but returns once workers have taken all keys that wait, and are done with them.
  // ShutDown() on another thread ends the wait.
  virtual void ShutDownWithDrain() = 0;
  // True from ShutDown() or ShutDownWithDrain() on.
  virtual bool shutting_down() const = 0;
  // Returns how many keys wait for a worker; those that wait for a delay are not among them.
  virtual std::size_t size() const = 0;
};

// An empty queue.
std::unique_ptr<WorkQueue> NewWorkQueue(WorkQueueOptions options = {});

}  // namespace apiserver::inline v0::controller
