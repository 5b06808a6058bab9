// Config maps, endpoints, events, leases and endpoint slices through HTTP, asked what a
// kube-apiserver 1.35.4 was asked.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/groups/coordination.h"
#include "apiserver/groups/core.h"
#include "apiserver/groups/discovery.h"
#include "apiserver/testing/server/test_server.h"

namespace cluster_served_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

const std::string kCore = "/api/v1/namespaces/default/";
const std::string kLeases = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const std::string kSlices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const std::string kDeprecated =
    R"(299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice")";

std::unique_ptr<testing::TestServer> StartCluster() {
  testing::TestServerOptions options;
  for (auto resources :
       {groups::core::ClusterResources(RealClock()), groups::coordination::Resources(RealClock()),
        groups::discovery::Resources(RealClock())}) {
    REQUIRE(resources.ok());
    for (auto& resource : *resources) options.kinds.push_back(std::move(resource));
  }
  auto server = testing::StartTestServer(std::move(options));
  REQUIRE(server.ok());
  return std::move(server).value();
}

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::vector<std::string> Warnings(const http::ClientResponse& response) {
  std::vector<std::string> warnings;
  for (const std::string_view text : response.headers.GetAll("Warning")) {
    warnings.emplace_back(text);
  }
  return warnings;
}

std::string NonStandard(const std::string& path, const std::string& ip, const std::string& use) {
  return "299 - \"" + path + ": non-standard IP address \\\"" + ip +
         "\\\" will be considered invalid in a future Kubernetes release: use \\\"" + use +
         "\\\"\"";
}

}  // namespace

TEST_CASE("groups: a lease is created by a PUT, and replaced only at its version", "[groups]") {
  const auto server = StartCluster();
  const std::string lease =
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"made"}})";

  CHECK(server->Call("PUT", kLeases + "/made", lease).code == 201);
  const auto again = server->Call("PUT", kLeases + "/made", lease);

  CHECK(again.code == 422);
  CHECK(Contains(again.body,
                 "metadata.resourceVersion: Invalid value: 0: must be specified for an update"));
}

TEST_CASE("groups: endpoints and events are created by a PUT, others are not", "[groups]") {
  const auto server = StartCluster();
  const std::string rest = R"(","metadata":{"name":"c"}})";
  const std::string core = R"({"apiVersion":"v1","kind":")";

  CHECK(server->Call("PUT", kCore + "endpoints/c", core + "Endpoints" + rest).code == 201);
  CHECK(server->Call("PUT", kCore + "events/c", core + "Event" + rest).code == 201);
  CHECK(server->Call("PUT", kCore + "configmaps/c", core + "ConfigMap" + rest).code == 404);
  const std::string slice = R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice",)"
                            R"("addressType":"IPv4","endpoints":[],"metadata":{"name":"c"}})";
  CHECK(server->Call("PUT", kSlices + "/c", slice).code == 404);
}

TEST_CASE("groups: an event is selected by who reports it", "[groups]") {
  const auto server = StartCluster();
  const std::string head = R"({"apiVersion":"v1","kind":"Event",)"
                           R"("involvedObject":{"namespace":"default"},"metadata":{"name":")";
  REQUIRE(server->Call("POST", kCore + "events", head + R"(a"},"source":{"component":"kubelet"}})")
              .code == 201);
  REQUIRE(server->Call("POST", kCore + "events", head + R"(b"},"reportingComponent":"scheduler"})")
              .code == 201);
  const auto selected = [&](const std::string& selector) {
    const auto answer = server->Call("GET", kCore + "events?fieldSelector=" + selector);
    return std::pair(Contains(answer.body, R"("name":"a")"),
                     Contains(answer.body, R"("name":"b")"));
  };

  CHECK(selected("source=kubelet") == std::pair(true, false));
  CHECK(selected("source=scheduler") == std::pair(false, true));
  CHECK(selected("source%21=kubelet") == std::pair(false, true));
  CHECK(selected("reportingComponent=scheduler") == std::pair(false, true));
}

TEST_CASE("groups: addresses in another form than the canonical one are warned about", "[groups]") {
  const auto server = StartCluster();
  const std::string subsets = R"("subsets":[{"addresses":[{"ip":"010.0.0.1"},{"ip":"FD00::1"},)"
                              R"({"ip":"::ffff:10.0.0.2"}]}]})";
  const std::string head = R"({"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"w)";

  const auto made = server->Call("POST", kCore + "endpoints", head + "\"}," + subsets);

  const std::string path = "subsets[0].addresses[";
  CHECK(Warnings(made) ==
        std::vector<std::string>{
            kDeprecated, NonStandard(path + "0].ip", "010.0.0.1", "10.0.0.1"),
            "299 - \"" + path +
                R"x(1].ip: IPv6 address \"FD00::1\" should be in RFC 5952 canonical )x"
                R"x(format (\"fd00::1\")")x",
            NonStandard(path + "2].ip", "::ffff:10.0.0.2", "10.0.0.2")});
  CHECK(Warnings(server->Call("GET", kCore + "endpoints/w")) == std::vector{kDeprecated});
  const std::string by_controller =
      R"(2","labels":{"endpoints.kubernetes.io/managed-by":"endpoint-controller"}},)";
  CHECK(Warnings(server->Call("POST", kCore + "endpoints", head + by_controller + subsets)) ==
        std::vector{kDeprecated});
}

TEST_CASE("groups: a slice's topology is dropped, and its addresses are warned about", "[groups]") {
  const auto server = StartCluster();
  const std::string head = R"({"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice",)"
                           R"("addressType":"IPv4","metadata":{"name":"w"},)"
                           R"("endpoints":[{"addresses":["010.0.0.1"],"deprecatedTopology":)";
  const std::vector<std::string> warned = {
      NonStandard("endpoints[0].addresses[0]", "010.0.0.1", "10.0.0.1")};

  const auto made = server->Call("POST", kSlices, head + R"({"kubernetes.io/hostname":"n"}}]})");
  CHECK(Warnings(made) == warned);
  CHECK(Contains(made.body, R"("endpoints":[{"addresses":["010.0.0.1"],"conditions":{}}])"));

  const auto changed = server->Call("PUT", kSlices + "/w", head + R"({"a":"b"}}]})");
  CHECK(Warnings(changed) == warned);
  CHECK(Contains(changed.body, R"("endpoints":[{"addresses":["010.0.0.1"],"conditions":{}}])"));
  CHECK(Contains(changed.body, R"("generation":2)"));
}

TEST_CASE("groups: a config map of more than a MiB is refused", "[groups]") {
  const auto server = StartCluster();
  const std::string head =
      R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"big"},"data":{"a":")";
  const std::string mebibyte(1 << 20, 'x');

  const auto big = server->Call("POST", kCore + "configmaps", head + mebibyte + R"(","b":"y"}})");

  CHECK(big.code == 422);
  CHECK(Contains(big.body, "is invalid: []: Too long: may not be more than 1048576 bytes"));
  CHECK(server->Call("POST", kCore + "configmaps", head + mebibyte + "\"}}").code == 201);
}

}  // namespace cluster_served_test
