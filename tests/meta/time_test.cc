#include "apiserver/meta/time.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::meta {
namespace {

class StoppedClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(); }
  Wall WallNow() const override {
    return Wall(std::chrono::seconds(1'000'000'000) + std::chrono::milliseconds(250));
  }
};

}  // namespace

TEST_CASE("meta: a timestamp is the clock's time in seconds, a micro one in microseconds",
          "[meta]") {
  CHECK(Timestamp(StoppedClock()) == "2001-09-09T01:46:40Z");
  CHECK(MicroTimestamp(StoppedClock()) == "2001-09-09T01:46:40.250000Z");
}

}  // namespace apiserver::inline v0::meta
