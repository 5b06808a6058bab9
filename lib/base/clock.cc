#include "apiserver/base/clock.h"

namespace apiserver::v0 {
namespace {

class MachineClock final : public Clock {
 public:
  Monotonic Now() const override { return std::chrono::steady_clock::now(); }
  Wall WallNow() const override { return std::chrono::system_clock::now(); }
};

}  // namespace

const Clock& RealClock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace apiserver::v0
