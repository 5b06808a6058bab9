#include "storage/store/pace.h"

#include <algorithm>

#include "apiserver/base/sync.h"

namespace apiserver::v0::storage::store {
namespace {

// Shorter waits are put together.
constexpr std::chrono::milliseconds kWaitMin(20);

}  // namespace

void WaitUnlessDone(const Context& ctx, std::chrono::milliseconds time) {
  Notification done;
  const auto registration = ctx.OnDone([&done] { done.Notify(); });
  (void)done.WaitFor(time);
}

void Pace::Spend(const Context& ctx, std::size_t cost) {
  if (per_second_max_ == 0) return;
  const Clock::Monotonic now = clock_.Now();
  paid_until_ = std::max(paid_until_, now) +
                std::chrono::nanoseconds(std::chrono::seconds(cost)) / per_second_max_;
  const auto ahead = std::chrono::ceil<std::chrono::milliseconds>(paid_until_ - now);
  if (ahead >= kWaitMin) WaitUnlessDone(ctx, ahead);
}

}  // namespace apiserver::v0::storage::store
