#include "aggregator/control/names_controller.h"

#include <chrono>
#include <utility>

namespace apiserver::v0::aggregator {

// Each name has its own pause and all together no limit, as upstream: one server that is away must
// not keep others from being looked at.
std::unique_ptr<controller::Controller> StartNamesController(NamesControllerOptions options) {
  auto made = controller::NewController(
      {.name = std::move(options.name),
       .reconcile = [work = std::move(options.work)](const Context& /*ctx*/,
                                                     const controller::NamespacedName& key)
           -> Result<controller::ReconcileResult> {
         if (Status status = work(key.name); !status.ok()) return status;
         return controller::ReconcileResult{};
       },
       .workers = options.workers,
       .pool = options.pool,
       .rate_limiter =
           controller::NewRateLimiter({.max = std::chrono::seconds(30), .per_second = 0}),
       .metrics = options.metrics});
  made->Start({});
  return made;
}

}  // namespace apiserver::v0::aggregator
