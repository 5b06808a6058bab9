#include "apiserver/controlplane/kubernetes_service.h"

#include <catch2/catch.hpp>
#include <string>

#include "apiserver/storage/memory/engine.h"
#include "controlplane/served.h"

namespace controlplane_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using std::chrono::milliseconds;

const std::string kServicePath = "/api/v1/namespaces/default/services/kubernetes";
const std::string kEndpointsPath = "/api/v1/namespaces/default/endpoints/kubernetes";
const std::string kSlicePath =
    "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes";

runtime::KindPtr EndpointsKind() {
  const auto kinds = groups::core::Kinds();
  for (const runtime::KindPtr& each : *kinds) {
    if (each->kind() == "Endpoints") return each;
  }
  return nullptr;
}

// A server that may run beside another one on the same engine.
std::unique_ptr<testing::TestServer> Serving(storage::kv::Engine& engine, const std::string& ip,
                                             controlplane::KubernetesServiceOptions wanted = {}) {
  testing::TestServerOptions options;
  options.engine = &engine;
  options.kinds = testing::ServedKinds({"Service", "Endpoints", "EndpointSlice"});
  options.install = [&engine, ip, wanted](server::GenericAPIServer& server) mutable {
    wanted.service_ip = "10.0.0.1";
    wanted.advertise_address = ip;
    wanted.public_port = 6443;
    wanted.storage = {.engine = &engine, .executor = &server.pool()};
    wanted.endpoints = EndpointsKind();
    wanted.period = milliseconds(20);
    wanted.ready_period = milliseconds(5);
    return controlplane::AddKubernetesService(server, wanted);
  };
  auto started = testing::StartTestServer(std::move(options));
  INFO(started.status().ToString());
  REQUIRE(started.ok());
  return *std::move(started);
}

bool Has(testing::TestServer& api, const std::string& path, const std::string& text) {
  return api.Call("GET", path).body.find(text) != std::string::npos;
}

}  // namespace

// TestCreateOrUpdateMasterService: the Service that is made.
TEST_CASE("controlplane: a ready server is behind the service kubernetes", "[controlplane]") {
  const auto engine = storage::memory::NewEngine();
  const auto api = Serving(*engine, "192.0.2.1");
  REQUIRE(Eventually([&] { return Has(*api, kSlicePath, "192.0.2.1"); }));

  const std::string service = api->Call("GET", kServicePath).body;
  CHECK(TextAt(service, {"spec", "clusterIP"}) == "10.0.0.1");
  CHECK(TextAt(service, {"spec", "type"}) == "ClusterIP");
  CHECK(TextAt(service, {"spec", "sessionAffinity"}) == "None");
  CHECK(TextAt(service, {"spec", "ipFamilyPolicy"}) == "SingleStack");
  CHECK(TextAt(service, {"metadata", "labels", "component"}) == "apiserver");
  CHECK(TextAt(service, {"metadata", "labels", "provider"}) == "kubernetes");
  CHECK(
      service.find(R"("ports":[{"name":"https","protocol":"TCP","port":443,"targetPort":6443}])") !=
      std::string::npos);
  CHECK(Has(*api, kEndpointsPath, R"("addresses":[{"ip":"192.0.2.1"}])"));
  CHECK(Has(*api, kEndpointsPath, R"("ports":[{"name":"https","port":6443,"protocol":"TCP"}])"));
  CHECK(Has(*api, "/readyz?verbose", "[+]poststarthook/bootstrap-controller ok"));
}

TEST_CASE("controlplane: a server leaves the service when it stops, the other one stays",
          "[controlplane]") {
  const auto engine = storage::memory::NewEngine();
  auto first = Serving(*engine, "192.0.2.1");
  const auto second = Serving(*engine, "192.0.2.2");
  REQUIRE(Eventually([&] {
    return Has(*second, kSlicePath, "192.0.2.1") && Has(*second, kSlicePath, "192.0.2.2");
  }));

  first.reset();

  CHECK(Eventually([&] { return !Has(*second, kSlicePath, "192.0.2.1"); }));
  CHECK(Eventually([&] { return !Has(*second, kEndpointsPath, "192.0.2.1"); }));
  CHECK(Has(*second, kSlicePath, "192.0.2.2"));
}

TEST_CASE("controlplane: a Service that is there stays, one that is deleted comes back",
          "[controlplane]") {
  const auto engine = storage::memory::NewEngine();
  const auto api = Serving(*engine, "192.0.2.1", {.node_port = 30443});
  REQUIRE(Eventually([&] { return Has(*api, kSlicePath, "192.0.2.1"); }));
  CHECK(Has(*api, kServicePath, R"("nodePort":30443)"));
  CHECK(TextAt(api->Call("GET", kServicePath).body, {"spec", "type"}) == "NodePort");
  const std::string uid = TextAt(api->Call("GET", kServicePath).body, {"metadata", "uid"});

  REQUIRE(api->Call("DELETE", kEndpointsPath).code == 200);
  REQUIRE(Eventually([&] { return Has(*api, kEndpointsPath, "192.0.2.1"); }));
  CHECK(TextAt(api->Call("GET", kServicePath).body, {"metadata", "uid"}) == uid);
  REQUIRE(api->Call("DELETE", kServicePath).code == 200);
  CHECK(Eventually([&] { return api->Call("GET", kServicePath).code == 200; }));
}

TEST_CASE("controlplane: with the reconciler none there is a Service and no endpoints",
          "[controlplane]") {
  const auto engine = storage::memory::NewEngine();
  const auto api =
      Serving(*engine, "", {.reconciler = controlplane::EndpointReconcilerType::kNone});

  CHECK(Eventually([&] { return api->Call("GET", kServicePath).code == 200; }));
  CHECK(api->Call("GET", kEndpointsPath).code == 404);
}

TEST_CASE("controlplane: a service without its parts is refused", "[controlplane]") {
  const auto api = Start({"Service"}, nullptr);
  const auto why = [&](const controlplane::KubernetesServiceOptions& options) {
    return std::string(controlplane::AddKubernetesService(api->server(), options).message());
  };
  CHECK(why({}) == "KubernetesServiceOptions need service_ip");
  CHECK(why({.service_ip = "10.0.0.1"}) == "KubernetesServiceOptions need advertise_address");
  CHECK(why({.service_ip = "10.0.0.1", .advertise_address = "192.0.2.1"}) ==
        "KubernetesServiceOptions need storage and endpoints");
}

}  // namespace controlplane_test
