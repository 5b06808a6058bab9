#include "apiserver/base/clock.h"

#include <catch2/catch.hpp>
#include <chrono>

namespace apiserver::inline v0 {

TEST_CASE("base: the coarse time is near the wall's", "[base]") {
  constexpr std::chrono::milliseconds kTick(20);
  const Clock& clock = RealClock();

  const Clock::Wall before = clock.WallNow();
  const Clock::Wall coarse = clock.CoarseWallNow();
  const Clock::Wall after = clock.WallNow();

  CHECK(coarse >= before - kTick);
  CHECK(coarse <= after);
}

}  // namespace apiserver::inline v0
