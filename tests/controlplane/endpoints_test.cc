#include "controlplane/control/endpoints.h"

#include <catch2/catch.hpp>

#include "controlplane/world.h"

namespace controlplane_test {

using namespace apiserver;  // NOLINT: tests only.

// TestEndpointsAdapterCreate, TestEndpointsAdapterEnsureEndpointSliceFromEndpoints
TEST_CASE("controlplane: a slice has the addresses of one family, and is made anew for another",
          "[controlplane]") {
  const World world;
  controlplane::EndpointsAdapter adapter(world.api->client());
  const auto subset = [](const Strings& ips) {
    return std::vector<controlplane::EndpointSubset>{
        {.addresses = ips, .ports = {{.name = "p", .port = 1}}}};
  };
  const auto type = [&] {
    return TextAt(world.api->Call("GET", kSlices + "/foo").body, {"addressType"});
  };

  REQUIRE(adapter.EnsureEndpointSlice(Ctx(), {.name = "foo", .subsets = subset({"1.2.3.4"})}).ok());
  CHECK(type() == "IPv4");
  REQUIRE(
      adapter.EnsureEndpointSlice(Ctx(), {.name = "foo", .subsets = subset({"::1", "::2"})}).ok());
  CHECK(type() == "IPv6");
  CHECK(world.SliceNow("foo") == "::1 ::2|p:1:TCP");
  REQUIRE(adapter.EnsureEndpointSlice(Ctx(), {.name = "foo", .subsets = subset({"::1", "1.2.3.4"})})
              .ok());
  CHECK(type() == "IPv4");
  CHECK(world.SliceNow("foo") == "1.2.3.4|p:1:TCP");
}

TEST_CASE("controlplane: the lease of a server that does not renew it ends", "[controlplane]") {
  const World world;
  const auto leases = controlplane::NewMasterLeases(
      {.engine = world.engine.get(), .executor = &world.api->server().pool()}, world.endpoints_kind,
      std::chrono::seconds(1));
  REQUIRE(leases->UpdateLease(Ctx(), "1.2.3.4").ok());
  REQUIRE(leases->UpdateLease(Ctx(), "1.2.3.4").ok());
  CHECK(leases->ListLeases(Ctx()).value() == Strings{"1.2.3.4"});
  CHECK(Eventually([&] { return leases->ListLeases(Ctx()).value().empty(); }));
  CHECK(leases->RemoveLease(Ctx(), "1.2.3.4").reason() == Reason::kNotFound);
}

}  // namespace controlplane_test
