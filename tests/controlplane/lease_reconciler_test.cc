// The tables of reconcilers/lease_test.go, against a server.
#include <catch2/catch.hpp>

#include "controlplane/reconciler_rows.h"

namespace controlplane_test {

using namespace apiserver;  // NOLINT: tests only.

// TestLeaseEndpointReconciler
TEST_CASE("controlplane: endpoints are those of the servers with a lease", "[controlplane]") {
  std::vector<Row> rows = CommonRows();
  rows.insert(rows.end(),
              {{.name = "existing endpoints satisfy + refresh existing key",
                .keys = {"1.2.3.4"},
                .endpoints = kRight,
                .slice = kRight},
               {.name = "existing endpoints satisfy but too many + extra masters",
                .keys = {"1.2.3.4", "4.3.2.2", "4.3.2.3", "4.3.2.4"},
                .endpoints = kFive,
                .slice = kFive,
                .expected = "1.2.3.4 4.3.2.2 4.3.2.3 4.3.2.4|foo:8080:TCP",
                .leases = {"1.2.3.4", "4.3.2.2", "4.3.2.3", "4.3.2.4"}},
               {.name = "existing endpoints satisfy but too many + extra masters + delete first",
                .ip = "4.3.2.4",
                .keys = {"4.3.2.1", "4.3.2.2", "4.3.2.3", "4.3.2.4"},
                .endpoints = kFive,
                .slice = kFive,
                .expected = "4.3.2.1 4.3.2.2 4.3.2.3 4.3.2.4|foo:8080:TCP",
                .leases = {"4.3.2.1", "4.3.2.2", "4.3.2.3", "4.3.2.4"}},
               {.name = "existing endpoints current IP missing",
                .ip = "4.3.2.2",
                .keys = {"4.3.2.1"},
                .endpoints = "4.3.2.1|foo:8080:TCP",
                .slice = "4.3.2.1|foo:8080:TCP",
                .expected = "4.3.2.1 4.3.2.2|foo:8080:TCP",
                .leases = {"4.3.2.1", "4.3.2.2"}}});
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const World world;
    world.Create("foo", row.endpoints, row.slice, row.mirror);
    auto leases = world.NewLeases();
    for (const std::string& each : row.keys) REQUIRE(leases->UpdateLease(Ctx(), each).ok());
    const auto reconciler =
        controlplane::NewLeaseEndpointReconciler(std::move(leases), NullLogSink());

    const Status done = reconciler->ReconcileEndpoints(Ctx(), world.api->client(), ServerOf(row),
                                                       row.reconcile_ports);

    CHECK(done == Status());
    CheckState(world, row);
    CHECK(world.NewLeases()->ListLeases(Ctx()).value() == row.leases);
  }
}

// TestLeaseRemoveEndpoints, TestApiserverShutdown
TEST_CASE("controlplane: a server that stops takes its address away", "[controlplane]") {
  struct Removal {
    Row row;
    bool starting = false;
  };
  const Strings four{"1.2.3.4", "4.3.2.2", "4.3.2.3", "4.3.2.4"};
  const Strings three{"4.3.2.2", "4.3.2.3", "4.3.2.4"};
  const std::string all = "1.2.3.4 4.3.2.2 4.3.2.3 4.3.2.4|foo:8080:TCP";
  const std::string others = "4.3.2.2 4.3.2.3 4.3.2.4|foo:8080:TCP";
  const std::vector<Removal> rows{
      {{.name = "successful remove previous endpoints before apiserver starts",
        .keys = four,
        .endpoints = all,
        .slice = all,
        .expected = others,
        .leases = three},
       true},
      {{.name = "successful stop reconciling",
        .keys = four,
        .endpoints = all,
        .slice = all,
        .expected = others,
        .leases = three}},
      {{.name = "stop reconciling with ip not in endpoint ip list",
        .ip = "5.6.7.8",
        .keys = four,
        .endpoints = all,
        .slice = all,
        .expected = all,
        .leases = four}},
      {{.name = "endpoint with no subset",
        .keys = four,
        .endpoints = "-",
        .slice = "-",
        .expected = others,
        .leases = three}},
      {{.name = "the last API server was shut down cleanly",
        .keys = {"1.2.3.4"},
        .endpoints = kRight,
        .slice = kRight,
        .expected = "-",
        .leases = {}}},
  };
  for (const auto& [row, starting] : rows) {
    CAPTURE(row.name);
    const World world;
    world.Create("foo", row.endpoints, row.slice, row.mirror);
    auto leases = world.NewLeases();
    for (const std::string& each : row.keys) REQUIRE(leases->UpdateLease(Ctx(), each).ok());
    const auto reconciler =
        controlplane::NewLeaseEndpointReconciler(std::move(leases), NullLogSink());
    if (!starting) reconciler->StopReconciling();

    const Status done = reconciler->RemoveEndpoints(Ctx(), world.api->client(), ServerOf(row));

    CHECK(done.reason() == (row.ip == "5.6.7.8" ? Reason::kNotFound : Status().reason()));
    CheckState(world, row);
    CHECK(world.NewLeases()->ListLeases(Ctx()).value() == row.leases);
    if (starting) continue;
    // One more turn of a server that has stopped changes nothing.
    CHECK(reconciler->ReconcileEndpoints(Ctx(), world.api->client(), ServerOf(row), false).ok());
    CheckState(world, row);
  }
}

}  // namespace controlplane_test
