#include "apiserver/base/function.h"

#include <catch2/catch.hpp>
#include <string>

namespace apiserver::inline v0 {
namespace {

TEST_CASE("base: a UniqueFunction owns what cannot be copied", "[base]") {
  UniqueFunction<int(int)> add = [held = std::make_unique<int>(40)](int n) { return *held + n; };

  CHECK(add(2) == 42);
}

TEST_CASE("base: a UniqueFunction is empty until it is given a callable and after a move",
          "[base]") {
  UniqueFunction<void()> none;
  UniqueFunction<void()> null = nullptr;
  UniqueFunction<void()> full = [] {};
  CHECK_FALSE(static_cast<bool>(none));
  CHECK_FALSE(static_cast<bool>(null));
  CHECK(static_cast<bool>(full));

  UniqueFunction<void()> moved = std::move(full);

  CHECK(static_cast<bool>(moved));
  CHECK_FALSE(static_cast<bool>(full));  // NOLINT: what a move leaves is what is tested.
}

TEST_CASE("base: a UniqueFunction destroys its callable when it is emptied", "[base]") {
  auto held = std::make_shared<int>(1);
  UniqueFunction<void()> holder = [held] {};
  REQUIRE(held.use_count() == 2);

  holder = nullptr;

  CHECK(held.use_count() == 1);
}

TEST_CASE("base: a UniqueFunction hands arguments through without a copy", "[base]") {
  UniqueFunction<std::string(std::unique_ptr<std::string>, const std::string&)> join =
      [](std::unique_ptr<std::string> a, const std::string& b) { return *a + b; };

  CHECK(join(std::make_unique<std::string>("a"), "b") == "ab");
}

}  // namespace
}  // namespace apiserver::inline v0
