#include "storage/store/pace.h"

#include <catch2/catch.hpp>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0::storage::store {
namespace {

using std::chrono::milliseconds;

// The time that spending `times` times `cost` takes.
Clock::Monotonic::duration TimeToSpend(Pace& pace, int times, std::size_t cost) {
  const auto begun = RealClock().Now();
  for (int i = 0; i < times; ++i) pace.Spend(Context::Background(), cost);
  return RealClock().Now() - begun;
}

TEST_CASE("storage.store: a pace spreads work over time", "[storage.store]") {
  Pace pace(1000, RealClock());
  // The last 20 ms may be saved.
  CHECK(TimeToSpend(pace, 20, 10) >= milliseconds(180));
  Pace unlimited(0, RealClock());
  CHECK(TimeToSpend(unlimited, 20, 1'000'000) < milliseconds(180));
}

TEST_CASE("storage.store: a pace holds up nothing that is cancelled", "[storage.store]") {
  Pace pace(1, RealClock());
  const Context ctx = Context::Child(Context::Background());
  const auto begun = RealClock().Now();
  Thread canceller("canceller", [&ctx] {
    (void)Notification().WaitFor(milliseconds(50));
    ctx.Cancel({Reason::kServiceUnavailable, "enough"});
  });

  pace.Spend(ctx, 3600);

  CHECK(RealClock().Now() - begun < std::chrono::seconds(60));
}

}  // namespace
}  // namespace apiserver::inline v0::storage::store
