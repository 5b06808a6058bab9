// Tests of waiting for a condition.
#include "apiserver/testing/server/eventually.h"

#include <catch2/catch.hpp>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

#include "apiserver/base/clock.h"

namespace eventually_test {
namespace {

using namespace apiserver;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Consistently;
using testing::Eventually;

// Holds from the n-th look on.
struct FromLook {
  bool operator()() const { return ++*looks >= n; }
  int n;
  int* looks;
};

std::string Printed(const testing::WaitResult& result) {
  std::ostringstream out;
  out << result;
  return out.str();
}

TEST_CASE("testing: Eventually looks until the condition holds, and not once more", "[testing]") {
  int looks = 0;
  const auto held = Eventually(FromLook{.n = 3, .looks = &looks}, {.interval = milliseconds(1)});
  CHECK(held);
  CHECK(looks == 3);
  CHECK(held.message().empty());
  CHECK(Printed(held) == "held");
}

TEST_CASE("testing: Eventually fails when the time has passed, with the last state", "[testing]") {
  const auto begin = RealClock().Now();
  int looks = 0;
  const auto failed =
      Eventually([&] { return Status(Reason::kNotFound, "look " + std::to_string(++looks)); },
                 {.timeout = milliseconds(30), .interval = milliseconds(5)});
  CHECK_FALSE(failed);
  CHECK(RealClock().Now() - begin >= milliseconds(30));
  CHECK(looks >= 2);
  const std::string n = std::to_string(looks);
  CHECK(failed.message() ==
        "the condition did not hold within 30 ms (" + n + " looks): NotFound: look " + n);
  CHECK(Printed(failed) == failed.message());
}

TEST_CASE("testing: a condition is a bool, a Status or a Result", "[testing]") {
  const testing::EventuallyOptions once{.timeout = milliseconds(0)};
  const auto failure = [&](testing::Condition condition) {
    const std::string text(Eventually(std::move(condition), once).message());
    return text.empty() ? text : text.substr(text.find("): ") + 3);
  };
  CHECK(failure([] { return true; }).empty());
  CHECK(failure([] { return false; }) == "false");
  CHECK(failure([] { return Status::Ok(); }).empty());
  CHECK(failure([] { return Status(Reason::kConflict, "c"); }) == "Conflict: c");
  CHECK(failure([] { return Result<bool>(true); }).empty());
  CHECK(failure([] { return Result<bool>(false); }) == "false");
  CHECK(failure([] { return Result<bool>(Status(Reason::kGone, "g")); }) == "Gone: g");
  CHECK(failure([] { return Result<std::unique_ptr<int>>(std::make_unique<int>(0)); }).empty());
  CHECK(failure([] { return Result<int>(Status(Reason::kTimeout, "t")); }) == "Timeout: t");
  // A move-only callable, and one that is called in place.
  CHECK(failure([held = std::make_unique<bool>(true)] { return *held; }).empty());
  CHECK(Eventually([] { return false; },
                   {.timeout = milliseconds(0), .describe = [] { return "tom is sad"; }})
            .message() == "the condition did not hold within 0 ms (1 looks): tom is sad");
}

TEST_CASE("testing: Eventually looks once more when the time has passed", "[testing]") {
  const auto begin = RealClock().Now();
  int looks = 0;
  // The interval is far beyond the time, so that the second look is the one at the end.
  CHECK(Eventually(FromLook{.n = 2, .looks = &looks},
                   {.timeout = milliseconds(20), .interval = seconds(60)}));
  CHECK(looks == 2);
  CHECK(RealClock().Now() - begin < seconds(30));
}

TEST_CASE("testing: an exception of a condition ends the wait", "[testing]") {
  int looks = 0;
  const auto throws = [&]() -> bool {
    ++looks;
    throw std::runtime_error("bug");
  };
  CHECK_THROWS_WITH(Eventually(throws), "bug");
  CHECK_THROWS_WITH(Consistently(throws), "bug");
  CHECK(looks == 2);
}

TEST_CASE("testing: Consistently looks until the time has passed", "[testing]") {
  const auto begin = RealClock().Now();
  int looks = 0;
  CHECK(Consistently([&] { return ++looks > 0; },
                     {.duration = milliseconds(40), .interval = milliseconds(1)}));
  CHECK(RealClock().Now() - begin >= milliseconds(40));
  CHECK(looks >= 2);
  looks = 0;
  CHECK(Consistently([&] { return ++looks > 0; }, {.duration = milliseconds(0)}));
  CHECK(looks == 2);
}

TEST_CASE("testing: Consistently fails at the first look that finds otherwise", "[testing]") {
  const auto begin = RealClock().Now();
  int looks = 0;
  const auto failed =
      Consistently([&] { return ++looks < 3 ? Status() : Status(Reason::kConflict, "taken"); },
                   {.duration = seconds(60), .interval = milliseconds(1)});
  CHECK_FALSE(failed);
  CHECK(looks == 3);
  CHECK(RealClock().Now() - begin < seconds(30));
  const std::string text(failed.message());
  CHECK(text.rfind("the condition did not hold after ", 0) == 0);
  CHECK(text.find(" ms (look 3): Conflict: taken") != std::string::npos);
}

}  // namespace
}  // namespace eventually_test
