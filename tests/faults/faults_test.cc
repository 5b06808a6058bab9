#include <catch2/catch.hpp>

#include "faults/cut.h"
#include "faults/flips.h"
#include "faults/io_errors.h"
#include "faults/kill.h"

// Small slices of what storage_faults runs in large, and the bugs that each harness must notice.
namespace apiserver::inline v0::faults {
namespace {

// Seeds are fixed: what fails here fails again.
constexpr std::uint64_t kSeed = 1;

TEST_CASE("faults: no acknowledged write is lost to kill -9", "[faults]") {
  const Outcome outcome = RunKills({.seed = kSeed, .rounds = 5, .program = STORAGE_FAULTS});
  INFO(outcome.first_violation);
  CHECK(outcome.violations == 0);
  CHECK(outcome.rounds == 5);
  CHECK(outcome.acknowledged >= 500);
}

// Threads decide what a kill meets: one after the other, until something is lost.
TEST_CASE("faults: kill -9 shows an acknowledgement before the write", "[faults]") {
  std::size_t violations = 0;
  for (std::uint64_t i = 0; i < 10 && violations == 0; ++i) {
    const auto outcome = RunKills(
        {.seed = kSeed + i, .rounds = 3, .program = STORAGE_FAULTS, .acknowledge_first = true});
    violations = outcome.violations;
  }
  CHECK(violations > 0);
}

TEST_CASE("faults: no acknowledged write is lost to a power cut", "[faults][slow]") {
  const Outcome outcome = RunCuts({.seed = kSeed, .rounds = 12});
  INFO(outcome.first_violation);
  CHECK(outcome.violations == 0);
  CHECK(outcome.acknowledged >= 1000);
}

TEST_CASE("faults: power cuts show a disk that only says it syncs", "[faults][slow]") {
  CHECK(RunCuts({.subject = Subject::kLyingDisk, .seed = kSeed, .rounds = 8}).violations > 0);
}

TEST_CASE("faults: power cuts show an acknowledgement before the write", "[faults][slow]") {
  CHECK(RunCuts({.subject = Subject::kAcknowledgeFirst, .seed = kSeed, .rounds = 8}).violations >
        0);
}

TEST_CASE("faults: power cuts show RocksDB's default, which does not sync", "[faults][slow]") {
  CHECK(RunCuts({.subject = Subject::kBareUnsynced, .seed = kSeed, .rounds = 8}).violations > 0);
}

TEST_CASE("faults: a log cut at any of its bytes opens to a gapless state", "[faults][slow]") {
  const Outcome outcome = RunBoundaries(8);
  INFO(outcome.first_violation);
  CHECK(outcome.violations == 0);
  CHECK(outcome.rounds > 300);
}

TEST_CASE("faults: an error of the disk is told, and ends without a loss", "[faults][slow]") {
  const Outcome outcome = RunIoErrors({.nth_max = 4});
  INFO(outcome.first_violation);
  CHECK(outcome.violations == 0);
  CHECK(outcome.rounds >= 80);
}

TEST_CASE("faults: errors of the disk show an acknowledgement before the write", "[faults]") {
  const Outcome outcome =
      RunIoErrors({.operations = {Operation::kAppend}, .nth_max = 20, .acknowledge_first = true});
  CHECK(outcome.violations > 0);
}

// Row 60 of docs/security.md.
TEST_CASE("faults: damaged files give right answers or an error", "[faults]") {
  const FlipOutcome flips = RunFlips({.seed = kSeed, .rounds = 60});
  INFO(flips.outcome.first_violation);
  CHECK(flips.outcome.violations == 0);
  CHECK(flips.refused > 10);
  CHECK(flips.harmless > 10);
}

}  // namespace
}  // namespace apiserver::inline v0::faults
