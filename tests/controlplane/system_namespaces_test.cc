#include "apiserver/controlplane/system_namespaces.h"

#include <catch2/catch.hpp>

#include "controlplane/served.h"

namespace controlplane_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

int CodeOf(testing::TestServer& api, const std::string& name) {
  return api.Call("GET", "/api/v1/namespaces/" + name).code;
}

}  // namespace

// TestSystemNamespaces' tables: none, some and all of the namespaces are there.
TEST_CASE("controlplane: a ready server has the system namespaces, and makes them again",
          "[controlplane]") {
  const auto api = Start({"Namespace"}, [](server::GenericAPIServer& server) {
    return controlplane::AddSystemNamespaces(server, {.period = std::chrono::milliseconds(10)});
  });

  for (const char* name : {"default", "kube-system", "kube-public", "kube-node-lease"}) {
    CHECK(CodeOf(*api, name) == 200);
  }
  REQUIRE(api->Call("DELETE", "/api/v1/namespaces/kube-public").code == 200);
  CHECK(Eventually([&] { return CodeOf(*api, "kube-public") == 200; }));
}

TEST_CASE("controlplane: namespaces that are there stay as they are", "[controlplane]") {
  const auto api = Start({"Namespace"}, [](server::GenericAPIServer& server) {
    return controlplane::AddSystemNamespaces(server, {.period = std::chrono::milliseconds(5)});
  });
  const std::string uid =
      TextAt(api->Call("GET", "/api/v1/namespaces/default").body, {"metadata", "uid"});

  REQUIRE(api->Call("DELETE", "/api/v1/namespaces/kube-public").code == 200);
  REQUIRE(Eventually([&] { return CodeOf(*api, "kube-public") == 200; }));

  CHECK(TextAt(api->Call("GET", "/api/v1/namespaces/default").body, {"metadata", "uid"}) == uid);
}

TEST_CASE("controlplane: a server without namespaces starts, and says what it lacks",
          "[controlplane]") {
  const auto api = Start({"ConfigMap"}, [](server::GenericAPIServer& server) {
    return controlplane::AddSystemNamespaces(server, {});
  });

  CHECK(api->server().ready());
  CHECK(api->Call("GET", "/readyz?verbose")
            .body.find("[+]poststarthook/start-system-namespaces-controller ok") !=
        std::string::npos);
}

}  // namespace controlplane_test
