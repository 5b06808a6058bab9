// Requests forwarded to pods, services and nodes; which names and addresses are allowed.
#include <catch2/catch.hpp>

#include "controlplane/kubelet/node_world.h"

namespace kubelet_test {

TEST_CASE("controlplane: what must not be reached is refused", "[controlplane]") {
  World world;
  world.AddNode("n", 10250);
  world.AddNode("named", 10250, "localhost");
  world.AddPod("loop", R"("containers":[{"name":"c"}])", R"("podIPs":[{"ip":"127.0.0.1"}])");
  world.AddPod("meta", R"("containers":[{"name":"c"}])", R"("podIP":"169.254.169.254")");
  world.AddPod("young", R"("containers":[{"name":"c"}])");
  world.Post("/api/v1/namespaces/ns/services",
             R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},)"
             R"("spec":{"ports":[{"name":"web","port":80}]}})");
  world.Post("/api/v1/namespaces/ns/services",
             R"({"apiVersion":"v1","kind":"Service","metadata":{"name":"empty"},"spec":{}})");
  world.Post("/api/v1/namespaces/ns/endpoints",
             R"({"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"empty"}})");
  // An address that is no pod's, one of another namespace's pod, one of a pod without that
  // address, and a pod's own that is not allowed.
  world.Post("/api/v1/namespaces/ns/endpoints",
             R"({"apiVersion":"v1","kind":"Endpoints","metadata":{"name":"s"},"subsets":[{)"
             R"("ports":[{"name":"web","port":1}],"addresses":[{"ip":"10.0.0.1"},)"
             R"({"ip":"10.0.0.1","targetRef":{"kind":"Pod","name":"young","namespace":"other"}},)"
             R"({"ip":"10.0.0.1","targetRef":{"kind":"Pod","name":"young","namespace":"ns"}},)"
             R"({"ip":"127.0.0.1","targetRef":{"kind":"Pod","name":"loop","namespace":"ns"}}]}]})");
  struct Case {
    const char* path;
    int code;
    const char* message;
  };
  const Case cases[] = {
      {"/api/v1/namespaces/ns/pods/loop/proxy/", 400, "address not allowed"},
      {"/api/v1/namespaces/ns/pods/loop:8080/proxy/x", 400, "address not allowed"},
      {"/api/v1/namespaces/ns/pods/meta/proxy/latest", 400, "address not allowed"},
      {"/api/v1/namespaces/ns/pods/young/proxy/", 400, "address not allowed"},
      {"/api/v1/namespaces/ns/pods/ftp:p:1/proxy/", 400, R"(invalid pod request "ftp:p:1")"},
      {"/api/v1/namespaces/ns/pods/missing:80/proxy/", 404, R"(pods "missing" not found)"},
      {"/api/v1/nodes/n/proxy/metrics", 400, "address not allowed"},
      {"/api/v1/nodes/https:n:80/proxy/metrics", 400, "address not allowed"},
      {"/api/v1/nodes/named/proxy/metrics", 400, "address not allowed"},
      {"/api/v1/nodes/a:b:c:d/proxy/", 400, R"(invalid node request "a:b:c:d")"},
      {"/api/v1/nodes/gone/proxy/", 404, R"(nodes "gone" not found)"},
      {"/api/v1/namespaces/ns/services/s:81/proxy/", 503,
       R"(no service port 81 found for service "s")"},
      {"/api/v1/namespaces/ns/services/s:80/proxy/", 503,
       R"(no endpoints available for service "s:80")"},
      {"/api/v1/namespaces/ns/services/s:web/proxy/", 503,
       R"(no endpoints available for service "s:web")"},
      {"/api/v1/namespaces/ns/services/empty/proxy/", 503,
       R"(no endpoints available for service "empty")"},
      {"/api/v1/namespaces/ns/services/missing:80/proxy/", 404, R"(services "missing" not found)"},
      {"/api/v1/namespaces/ns/services/:/proxy/", 400, R"(invalid service request ":")"}};
  for (const Case& test : cases) {
    INFO(test.path);
    const auto answer = world.Get(test.path);
    CHECK(answer.code == test.code);
    CHECK(StatusMessageOf(answer) == test.message);
  }
}

TEST_CASE("controlplane: the address of a node is the first of the types that are preferred",
          "[controlplane]") {
  World world({.kubelet = {.preferred_address_types = {"ExternalIP", "Hostname"}}});
  world.Post("/api/v1/nodes",
             R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"addresses":[)"
             R"({"type":"InternalIP","address":"10.0.0.1"}]}})");
  const auto answer = world.Get("/api/v1/nodes/n/proxy/");
  CHECK(answer.code == 500);
  CHECK(StatusMessageOf(answer) ==
        "no preferred addresses found; known addresses: [{InternalIP 10.0.0.1}]");
}

}  // namespace kubelet_test
