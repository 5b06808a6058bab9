// Tests of the time that a failed key waits, by client-go's rules.
#include <catch2/catch.hpp>

#include "apiserver/controller/rate_limiter.h"
#include "base/manual.h"

namespace controller_test {
namespace {

using apiserver::controller::NewRateLimiter;
using apiserver::testing::ManualClock;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("controller: a key's wait doubles with each failure, and is forgotten", "[controller]") {
  const auto limiter = NewRateLimiter({.max = seconds(1), .per_second = 0});

  CHECK(limiter->When({"a", "x"}) == milliseconds(5));
  CHECK(limiter->When({"a", "x"}) == milliseconds(10));
  CHECK(limiter->When({"a", "x"}) == milliseconds(20));
  CHECK(limiter->When({"b", "x"}) == milliseconds(5));
  CHECK(limiter->Requeues({"a", "x"}) == 3);
  CHECK(limiter->Requeues({"c", "x"}) == 0);
  for (int i = 0; i < 2000; ++i) (void)limiter->When({"a", "x"});
  CHECK(limiter->When({"a", "x"}) == seconds(1));

  limiter->Forget({"a", "x"});
  CHECK(limiter->Requeues({"a", "x"}) == 0);
  CHECK(limiter->When({"a", "x"}) == milliseconds(5));
}

TEST_CASE("controller: retries of all keys share a bucket", "[controller]") {
  ManualClock clock;
  const auto limiter = NewRateLimiter({.per_second = 10, .burst = 3, .clock = &clock});
  const auto wait = [&](int i) { return limiter->When({"a", std::to_string(i)}); };

  for (int i = 0; i < 3; ++i) CHECK(wait(i) == milliseconds(5));
  CHECK(wait(3) == milliseconds(100));
  CHECK(wait(4) == milliseconds(200));
  // The two that were promised are taken off what has come.
  clock.Advance(milliseconds(300));
  CHECK(wait(5) == milliseconds(5));
  CHECK(wait(6) == milliseconds(100));
  // It holds no more than its burst.
  clock.Advance(seconds(100));
  for (int i = 10; i < 13; ++i) CHECK(wait(i) == milliseconds(5));
  CHECK(wait(13) == milliseconds(100));
}

}  // namespace
}  // namespace controller_test
