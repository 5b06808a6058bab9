#include "apiserver/base/clock.h"

#include <ctime>

namespace apiserver::v0 {
namespace {

class MachineClock final : public Clock {
 public:
  Monotonic Now() const override { return std::chrono::steady_clock::now(); }
  Wall WallNow() const override { return std::chrono::system_clock::now(); }
  // The kernel keeps this time at its ticks: nothing asks the hardware.
  Wall CoarseWallNow() const override {
    timespec now{};
    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return Wall(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  }
};

}  // namespace

const Clock& RealClock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace apiserver::v0
