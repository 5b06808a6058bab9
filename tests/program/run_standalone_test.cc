#include "apiserver/program/run_standalone.h"

#include <catch2/catch.hpp>

namespace apiserver::inline v0::program {

// A whole program is tested from outside: tests/e2e/start.py.
TEST_CASE("program: a program without a name, or that installs nothing, is refused", "[program]") {
  const char* const argv[] = {"program", "--version"};
  const auto install = [](auto&, const auto&) { return Status(); };

  CHECK(RunStandalone(2, argv, {.name = "named"}) == kExitFailure);
  CHECK(RunStandalone(2, argv, {.install = install}) == kExitFailure);
  CHECK(RunStandalone(2, argv, {.name = "named", .install = install}) == kExitOk);
}

TEST_CASE("program: kinds that cannot be installed without a server are not printed", "[program]") {
  const char* const argv[] = {"program", "crd"};
  const auto fail = [](auto&, const auto&) { return Status(Reason::kInvalid, "no issuer"); };
  const auto install = [](auto&, const auto&) { return Status(); };

  CHECK(RunStandalone(2, argv, {.name = "named", .install = fail}) == kExitFailure);
  CHECK(RunStandalone(2, argv, {.name = "named", .install = install}) == kExitOk);
}

}  // namespace apiserver::inline v0::program
