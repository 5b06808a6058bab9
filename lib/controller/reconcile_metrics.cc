#include "controller/reconcile_metrics.h"

#include <vector>

namespace apiserver::v0::controller {
namespace {

std::vector<double> TimeBounds() {
  return {0.005, 0.01, 0.025, 0.05, 0.1,  0.15, 0.2,  0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6,
          0.7,   0.8,  0.9,   1.0,  1.25, 1.5,  1.75, 2.0,  2.5, 3.0,  3.5, 4.0,  4.5, 5,
          6,     7,    8,     9,    10,   15,   20,   25,   30,  40,   50,  60};
}

}  // namespace

ReconcileMetrics::ReconcileMetrics(metrics::Registry* registry, const std::string& controller,
                                   std::size_t workers) {
  if (registry == nullptr) return;
  auto& total = registry->Counters({"controller_runtime_reconcile_total",
                                    "Reconciliations of a controller by their result.",
                                    {"controller", "result"}});
  success_ = &total.With({controller, "success"});
  requeue_after_ = &total.With({controller, "requeue_after"});
  error_ = &total.With({controller, "error"});
  errors_ = &registry
                 ->Counters({"controller_runtime_reconcile_errors_total",
                             "Reconciliations of a controller that failed.",
                             {"controller"}})
                 .With({controller});
  panics_ = &registry
                 ->Counters({"controller_runtime_reconcile_panics_total",
                             "Reconciliations of a controller that threw an exception.",
                             {"controller"}})
                 .With({controller});
  active_ = &registry
                 ->Gauges({"controller_runtime_active_workers",
                           "Workers of a controller that reconcile a key now.",
                           {"controller"}})
                 .With({controller});
  time_ = &registry
               ->Histograms({"controller_runtime_reconcile_time_seconds",
                             "Seconds that a reconciliation took.",
                             {"controller"}},
                            TimeBounds())
               .With({controller});
  registry
      ->Gauges({"controller_runtime_max_concurrent_reconciles",
                "The most keys that a controller works on at a time.",
                {"controller"}})
      .With({controller})
      .Set(static_cast<double>(workers));
}

void ReconcileMetrics::Began() {
  if (active_ != nullptr) active_->Add();
}

void ReconcileMetrics::Ended(std::chrono::nanoseconds took) {
  if (active_ == nullptr) return;
  active_->Subtract();
  time_->Observe(std::chrono::duration<double>(took).count());
}

void ReconcileMetrics::Threw() {
  if (panics_ != nullptr) panics_->Add();
}

void ReconcileMetrics::Count(ReconcileOutcome outcome) {
  if (error_ == nullptr) return;
  switch (outcome) {
    case ReconcileOutcome::kSuccess:
      return success_->Add();
    case ReconcileOutcome::kRequeueAfter:
      return requeue_after_->Add();
    case ReconcileOutcome::kError:
      error_->Add();
      return errors_->Add();
  }
}

}  // namespace apiserver::v0::controller
