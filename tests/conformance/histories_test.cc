#include <catch2/catch.hpp>

#include "apiserver/testing/storage/histories.h"
#include "hosts.h"

// A slice of what the program storage_histories runs for long.
using namespace apiserver;  // NOLINT: a test.

TEST_CASE("conformance: histories of every engine and form hold", "[conformance][history][slow]") {
  const auto engine = GENERATE(from_range(testing::Engines()));
  const auto form = GENERATE_COPY(from_range(engine.forms));
  const bool faults = GENERATE(false, true);
  INFO(form << " over " << engine.name << (faults ? " with faults" : ""));
  // [histories]
  testing::storage::HistoryOptions options;
  options.seed = 1;
  options.operations = 3200;
  options.faults = faults;

  const auto report = testing::storage::RunHistories(testing::HostOf(form, engine.open), options);

  INFO(report.status().ToString());
  REQUIRE(report.ok());
  INFO(report->ToString());
  CHECK(report->violations.empty());
  // [/histories]
  // The number depends on how often watches came to run.
  CHECK(report->events > 100);
  CHECK(report->compactions > 0);
}
