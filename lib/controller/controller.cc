#include "apiserver/controller/controller.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "controller/pool_workers.h"
#include "controller/reconcile_metrics.h"

namespace apiserver::v0::controller {
namespace {

using std::chrono::milliseconds;

// The time between two looks at whether to stop, while informers have not synced.
constexpr auto kSyncPoll = milliseconds(20);

class WorkerController final : public Controller {
 public:
  explicit WorkerController(ControllerOptions options)
      : options_(std::move(options)),
        metrics_(options_.metrics, options_.name, workers_max()),
        pool_workers_(NewPoolWorkers()),
        queue_(NewWorkQueue({.name = options_.name,
                             .metrics = options_.metrics,
                             .rate_limiter = options_.rate_limiter,
                             .on_ready = CallWorkers()})),
        ctx_(Context::Child(Context::Background())) {}
  ~WorkerController() override { Stop(); }

  WorkQueue& queue() override { return *queue_; }
  void Start(std::vector<const client::Informer*> informers) override;
  void Stop() override;

 private:
  std::size_t workers_max() const {
    return static_cast<std::size_t>(std::max(options_.workers, 1));
  }
  std::shared_ptr<PoolWorkers> NewPoolWorkers();
  // Returns what a queue calls that has no threads. Null: it has threads.
  std::function<void(std::chrono::nanoseconds)> CallWorkers();
  void Work();
  // Works on a key if one is there. False: none is.
  bool Turn();
  void WorkOn(const NamespacedName& key);
  // Waits until all informers have synced. False: the controller stops.
  bool AwaitSync() const;
  // Calls the reconciler, whose exceptions become errors.
  Result<ReconcileResult> Call(const NamespacedName& key);
  Result<ReconcileResult> Reconcile(const NamespacedName& key);
  void Settle(const NamespacedName& key, const Result<ReconcileResult>& result);

  const ControllerOptions options_;
  ReconcileMetrics metrics_;
  const std::shared_ptr<PoolWorkers> pool_workers_;  // Null: workers are threads.
  const std::unique_ptr<WorkQueue> queue_;
  const Context ctx_;
  std::vector<const client::Informer*> informers_;
  std::vector<Thread> workers_;
};

void WorkerController::Start(std::vector<const client::Informer*> informers) {
  informers_ = std::move(informers);
  if (pool_workers_) {
    return pool_workers_->Start(
        [this] {
          return std::ranges::all_of(informers_,
                                     [](const auto* each) { return each->HasSynced(); });
        },
        kSyncPoll);
  }
  for (std::size_t i = 0; i < workers_max(); ++i) {
    workers_.emplace_back(options_.name, [this] { Work(); });
  }
}

std::shared_ptr<PoolWorkers> WorkerController::NewPoolWorkers() {
  if (options_.pool == nullptr) return nullptr;
  return std::make_shared<PoolWorkers>(*options_.pool, workers_max(), [this] { return Turn(); });
}

std::function<void(std::chrono::nanoseconds)> WorkerController::CallWorkers() {
  if (!pool_workers_) return nullptr;
  return [this](std::chrono::nanoseconds after) { pool_workers_->Call(after); };
}

void WorkerController::Stop() {
  ctx_.Cancel(Status(Reason::kTimeout, "the controller was stopped"));
  queue_->ShutDown();
  if (pool_workers_) pool_workers_->Stop();
  for (Thread& worker : workers_) worker.Join();
  while (Turn()) {
  }
}

bool WorkerController::AwaitSync() const {
  for (const client::Informer* informer : informers_) {
    while (!informer->WaitForSync(kSyncPoll)) {
      if (ctx_.done()) return false;
    }
  }
  return true;
}

void WorkerController::Work() {
  if (!AwaitSync()) return;
  while (const auto key = queue_->Get()) WorkOn(*key);
}

bool WorkerController::Turn() {
  const auto key = queue_->TryGet();
  if (key) WorkOn(*key);
  return key.has_value();
}

// After Stop() the keys that wait are taken off the queue and dropped.
void WorkerController::WorkOn(const NamespacedName& key) {
  if (!ctx_.done()) Settle(key, Reconcile(key));
  queue_->Done(key);
}

Result<ReconcileResult> WorkerController::Call(const NamespacedName& key) {
  try {
    return options_.reconcile(ctx_, key);
  } catch (const std::exception& e) {
    metrics_.Threw();
    return Status(Reason::kInternalError, std::string("exception: ") + e.what());
  } catch (...) {
    metrics_.Threw();
    return Status(Reason::kInternalError, "exception");
  }
}

Result<ReconcileResult> WorkerController::Reconcile(const NamespacedName& key) {
  const auto begin = RealClock().Now();
  metrics_.Began();
  auto result = Call(key);
  metrics_.Ended(RealClock().Now() - begin);
  return result;
}

void WorkerController::Settle(const NamespacedName& key, const Result<ReconcileResult>& result) {
  if (!result.ok()) {
    // The error of a reconciler that was interrupted says nothing.
    if (ctx_.done()) return;
    metrics_.Count(ReconcileOutcome::kError);
    Log(*options_.log, LogLevel::kError, "reconciler error",
        {{"controller", options_.name},
         {"object", key.ToString()},
         {"error", result.status().ToString()}});
    return queue_->AddRateLimited(key);
  }
  queue_->Forget(key);
  if (result->requeue_after <= std::chrono::nanoseconds(0)) {
    return metrics_.Count(ReconcileOutcome::kSuccess);
  }
  metrics_.Count(ReconcileOutcome::kRequeueAfter);
  queue_->AddAfter(key, result->requeue_after);
}

}  // namespace

std::unique_ptr<Controller> NewController(ControllerOptions options) {
  return std::make_unique<WorkerController>(std::move(options));
}

}  // namespace apiserver::v0::controller
