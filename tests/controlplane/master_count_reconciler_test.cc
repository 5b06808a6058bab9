// The tables of reconcilers/instancecount_test.go, against a server.
#include <catch2/catch.hpp>

#include "controlplane/reconciler_rows.h"

namespace controlplane_test {

using namespace apiserver;  // NOLINT: tests only.

// TestMasterCountEndpointReconciler, TestEmptySubsets
TEST_CASE("controlplane: endpoints are those of as many servers as there are", "[controlplane]") {
  std::vector<Row> rows = CommonRows();
  rows.insert(
      rows.end(),
      {{.name = "existing endpoints satisfy but too many + extra masters",
        .endpoints = kFive,
        .slice = kFive,
        .expected = "1.2.3.4 4.3.2.2 4.3.2.3 4.3.2.4|foo:8080:TCP",
        .servers = 4},
       {.name = "existing endpoints satisfy but too many + extra masters + delete first",
        .ip = "4.3.2.4",
        .endpoints = kFive,
        .slice = kFive,
        .expected = "4.3.2.1 4.3.2.2 4.3.2.3 4.3.2.4|foo:8080:TCP",
        .servers = 4},
       {.name = "existing endpoints satisfy and endpoint addresses length less than master count",
        .ip = "4.3.2.2",
        .endpoints = "4.3.2.1 4.3.2.2|foo:8080:TCP",
        .slice = "4.3.2.1 4.3.2.2|foo:8080:TCP",
        .expected = "4.3.2.1 4.3.2.2|foo:8080:TCP",
        .servers = 4},
       {.name = "existing endpoints current IP missing and address length less than master count",
        .ip = "4.3.2.2",
        .endpoints = "4.3.2.1|foo:8080:TCP",
        .slice = "4.3.2.1|foo:8080:TCP",
        .expected = "4.3.2.1 4.3.2.2|foo:8080:TCP",
        .servers = 4},
       {.name = "no existing sctp endpoints",
        .ports = "boo:7777:SCTP",
        .expected = "1.2.3.4|boo:7777:SCTP",
        .service = "boo"}});
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const World world;
    world.Create("foo", row.endpoints, row.slice, row.mirror);
    const auto reconciler =
        controlplane::NewMasterCountEndpointReconciler(row.servers, NullLogSink());

    const Status done = reconciler->ReconcileEndpoints(Ctx(), world.api->client(), ServerOf(row),
                                                       row.reconcile_ports);

    CHECK(done == Status());
    CheckState(world, row);
  }
  const World empty;
  empty.Create("foo", "-", "-", false);
  CHECK(controlplane::NewMasterCountEndpointReconciler(1, NullLogSink())
            ->RemoveEndpoints(Ctx(), empty.api->client(), ServerOf({.name = "empty"}))
            .ok());
}

}  // namespace controlplane_test
