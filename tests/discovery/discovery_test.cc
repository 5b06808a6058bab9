#include <catch2/catch.hpp>

#include "apiserver/discovery/discovery.h"
#include "widget_server.h"

using apiserver::testing::Contains;
using apiserver::testing::StartWidgetServer;

namespace {

constexpr char kV2[] = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
constexpr char kV2Beta1[] =
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";

}  // namespace

TEST_CASE("discovery: the legacy documents name groups, versions and resources", "[discovery]") {
  const auto server = StartWidgetServer();

  const auto groups = server->Call("GET", "/apis");
  const auto group = server->Call("GET", "/apis/example.com");
  const auto resources = server->Call("GET", "/apis/example.com/v1");

  CHECK(Contains(groups.body,
                 R"("groups":[{"name":"example.com",)"
                 R"("versions":[{"groupVersion":"example.com/v1","version":"v1"},)"
                 R"({"groupVersion":"example.com/v1alpha1","version":"v1alpha1"}],)"
                 R"("preferredVersion":{"groupVersion":"example.com/v1","version":"v1"})"));
  CHECK(group.body.starts_with(R"({"kind":"APIGroup","apiVersion":"v1","name":"example.com")"));
  CHECK(Contains(resources.body,
                 R"({"name":"widgets","singularName":"widget","namespaced":true,)"
                 R"("kind":"Widget","verbs":["create","delete","deletecollection","get",)"
                 R"("list","patch","update","watch"],"shortNames":["wd"],)"
                 R"("storageVersionHash":")"));
}

TEST_CASE("discovery: aggregated forms echo what was asked for", "[discovery]") {
  const auto server = StartWidgetServer();

  const auto v2 =
      server->Call("GET", "/apis", "", {{"Accept", std::string(kV2) + ",application/json"}});
  const auto beta =
      server->Call("GET", "/apis", "", {{"Accept", std::string(kV2Beta1) + ",application/json"}});
  const auto legacy = server->Call("GET", "/apis", "", {{"Accept", "application/json"}});
  const auto again =
      server->Call("GET", "/apis", "",
                   {{"Accept", kV2}, {"If-None-Match", std::string(v2.headers.Get("ETag"))}});

  CHECK(v2.headers.Get("Content-Type") == kV2);
  CHECK(v2.headers.Get("Vary") == "Accept");
  CHECK(Contains(v2.body, R"("apiVersion":"apidiscovery.k8s.io/v2")"));
  CHECK(Contains(v2.body, R"({"resource":"widgets","responseKind":{"group":"example.com",)"
                          R"("version":"v1","kind":"Widget"},"scope":"Namespaced",)"
                          R"("singularResource":"widget")"));
  CHECK(beta.headers.Get("Content-Type") == kV2Beta1);
  CHECK(Contains(legacy.body, "APIGroupList"));
  CHECK(again.code == 304);
  CHECK(again.body.empty());
}

TEST_CASE("discovery: what is not there is not found, and only GET is allowed", "[discovery]") {
  const auto server = StartWidgetServer();

  CHECK(server->Call("GET", "/apis/nobody.example.com").code == 404);
  CHECK(server->Call("GET", "/apis/example.com/v9").code == 404);
  CHECK(server->Call("GET", "/api").code == 404);
  CHECK(server->Call("POST", "/apis").code == 405);
}

TEST_CASE("discovery: the storage version hash is Kubernetes'", "[discovery]") {
  // As kube-apiserver shows for pods.
  CHECK(apiserver::discovery::StorageVersionHash({"", "v1", "Pod"}) == "xPOwRZ+Yhw8=");
}
