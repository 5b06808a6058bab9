// The counts of a store's calls of its engine: the metrics of
// k8s.io/apiserver/pkg/storage/etcd3/metrics that begin with etcd_request.
#include "apiserver/testing/storage/fault_engine.h"
#include "registry/fixture.h"

namespace apiserver::inline v0::testing {

namespace {

// The value of the counter `name` of widgets for `operation`; -1: there is none.
double CountOf(Fixture& fixture, const std::string& name, const std::string& operation) {
  const std::string text = fixture.config.metrics->Serialize();
  const std::string series = "\n" + name + "{operation=\"" + operation +
                             "\",group=\"test.example.com\",resource=\"widgets\"} ";
  const std::size_t at = text.find(series);
  return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size()));
}

double Calls(Fixture& fixture, const std::string& operation) {
  return CountOf(fixture, "etcd_requests_total", operation);
}

}  // namespace

TEST_CASE("registry: the engine's calls are counted and timed by what they are for", "[registry]") {
  Fixture fixture(/*watch_cache=*/false);
  fixture.config.metrics = metrics::NewRegistry();
  CHECK(Calls(fixture, "create") == -1);

  fixture.Create("a");
  CHECK(Calls(fixture, "create") == 1);
  REQUIRE(fixture.Get("a").ok());
  CHECK(Calls(fixture, "get") == 1);
  REQUIRE(fixture.Store().List(fixture.ctx, {}).ok());
  CHECK(Calls(fixture, "list") == 1);
  REQUIRE(fixture.Edit("a", [](runtime::Object& o) { o.Edit("spec", "size") = 3; }).ok());
  CHECK(Calls(fixture, "update") == 1);
  // A name that is taken is an answer, and no failure.
  CHECK_FALSE(fixture.TryCreate(fixture.New("a")).ok());
  CHECK(Calls(fixture, "create") == 2);
  REQUIRE(fixture.Delete("a").ok());
  CHECK(Calls(fixture, "delete") == 1);

  CHECK(CountOf(fixture, "etcd_request_duration_seconds_count", "create") == 2);
  for (const char* operation : {"get", "list", "create", "update", "delete"}) {
    CHECK(CountOf(fixture, "etcd_request_errors_total", operation) == -1);
  }
}

TEST_CASE("registry: writes that hold no thread are counted as others are", "[registry]") {
  Fixture fixture;
  fixture.config.metrics = metrics::NewRegistry();
  std::string created;
  fixture.Store().CreateAsync(fixture.ctx, fixture.New("a"), nullptr, {},
                              [&created](rest::AsyncCreater::Outcome outcome) {
                                if (outcome.object) created = outcome.object->name();
                              });
  REQUIRE(created == "a");
  CHECK(Calls(fixture, "create") == 1);

  const Edited edit([](runtime::Object& o) { o.Edit("spec", "size") = 3; });
  bool updated = false;
  fixture.Store().UpdateAsync(fixture.ctx, "a", {edit, nullptr, nullptr, false, {}},
                              [&updated](rest::AsyncUpdater::UpdateOutcome outcome) {
                                updated = outcome.result.object != nullptr;
                              });
  REQUIRE(updated);
  CHECK(Calls(fixture, "update") == 1);
}

TEST_CASE("registry: calls that the engine fails are counted as errors, too", "[registry]") {
  Fixture fixture(/*watch_cache=*/false);
  fixture.config.metrics = metrics::NewRegistry();
  const auto faults = storage::NewFaultEngine(*fixture.engine);
  fixture.config.engine = faults.get();
  fixture.Create("a");
  faults->FailRanges(1, {Reason::kServiceUnavailable, "away"});
  CHECK_FALSE(fixture.Get("a").ok());
  CHECK(Calls(fixture, "get") == 1);
  CHECK(CountOf(fixture, "etcd_request_errors_total", "get") == 1);

  // A reader that may not wait asks again where it may: that is no call yet.
  faults->FailRanges(1, {Reason::kWouldBlock, "may not wait"});
  CHECK(fixture.Get("a").status().reason() == Reason::kWouldBlock);
  CHECK(Calls(fixture, "get") == 1);
  fixture.store.reset();
}

}  // namespace apiserver::inline v0::testing
