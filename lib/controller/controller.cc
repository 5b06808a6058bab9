#include "apiserver/controller/controller.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::v0::controller {
namespace {

using std::chrono::milliseconds;

// The time between two looks at whether to stop, while informers have not synced.
constexpr auto kSyncPoll = milliseconds(20);

class WorkerController final : public Controller {
 public:
  explicit WorkerController(ControllerOptions options)
      : options_(std::move(options)),
        queue_(NewWorkQueue({.name = options_.name,
                             .metrics = options_.metrics,
                             .rate_limiter = options_.rate_limiter})),
        ctx_(Context::Child(Context::Background())) {
    if (options_.metrics != nullptr) {
      total_ = &options_.metrics->Counters({"controller_runtime_reconcile_total",
                                            "Reconciliations of a controller by their result.",
                                            {"controller", "result"}});
    }
  }
  ~WorkerController() override { Stop(); }

  WorkQueue& queue() override { return *queue_; }
  void Start(std::vector<const client::Informer*> informers) override;
  void Stop() override;

 private:
  void Work();
  // Waits until all informers have synced. False: the controller stops.
  bool AwaitSync() const;
  Result<ReconcileResult> Reconcile(const NamespacedName& key);
  void Settle(const NamespacedName& key, const Result<ReconcileResult>& result);
  void Count(const char* result) {
    if (total_ != nullptr) total_->With({options_.name, result}).Add();
  }

  const ControllerOptions options_;
  const std::unique_ptr<WorkQueue> queue_;
  const Context ctx_;
  metrics::Family<metrics::Counter>* total_ = nullptr;  // Null: nothing is counted.
  std::vector<const client::Informer*> informers_;
  std::vector<Thread> workers_;
};

void WorkerController::Start(std::vector<const client::Informer*> informers) {
  informers_ = std::move(informers);
  for (int i = 0; i < std::max(options_.workers, 1); ++i) {
    workers_.emplace_back(options_.name, [this] { Work(); });
  }
}

void WorkerController::Stop() {
  ctx_.Cancel(Status(Reason::kTimeout, "the controller was stopped"));
  queue_->ShutDown();
  for (Thread& worker : workers_) worker.Join();
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
  while (const auto key = queue_->Get()) {
    // After Stop() the keys that wait are taken off the queue and dropped.
    if (!ctx_.done()) Settle(*key, Reconcile(*key));
    queue_->Done(*key);
  }
}

Result<ReconcileResult> WorkerController::Reconcile(const NamespacedName& key) {
  try {
    return options_.reconcile(ctx_, key);
  } catch (const std::exception& e) {
    return Status(Reason::kInternalError, std::string("exception: ") + e.what());
  } catch (...) {
    return Status(Reason::kInternalError, "exception");
  }
}

void WorkerController::Settle(const NamespacedName& key, const Result<ReconcileResult>& result) {
  if (!result.ok()) {
    // The error of a reconciler that was interrupted says nothing.
    if (ctx_.done()) return;
    Count("error");
    Log(*options_.log, LogLevel::kError, "reconciler error",
        {{"controller", options_.name},
         {"object", key.ToString()},
         {"error", result.status().ToString()}});
    return queue_->AddRateLimited(key);
  }
  queue_->Forget(key);
  if (result->requeue_after <= std::chrono::nanoseconds(0)) return Count("success");
  Count("requeue_after");
  queue_->AddAfter(key, result->requeue_after);
}

}  // namespace

std::unique_ptr<Controller> NewController(ControllerOptions options) {
  return std::make_unique<WorkerController>(std::move(options));
}

}  // namespace apiserver::v0::controller
