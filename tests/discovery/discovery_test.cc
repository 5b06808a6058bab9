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

// The messages of apimachinery's generated.proto, in runtime.Unknown as upstream sends them.
TEST_CASE("discovery: the legacy documents are sent as protobuf to whoever asks", "[discovery]") {
  const auto server = StartWidgetServer();
  constexpr char kProtobuf[] = "application/vnd.kubernetes.protobuf";
  const auto field = [](char tag, const std::string& bytes) {
    std::string out(1, tag);
    std::size_t size = bytes.size();
    for (; size >= 128; size /= 128) out += static_cast<char>(size % 128 + 128);
    return out + static_cast<char>(size) + bytes;
  };
  const auto unknown = [&field](const std::string& kind, const std::string& message) {
    return std::string("k8s\0", 4) + field('\x0a', field('\x0a', "v1") + field('\x12', kind)) +
           field('\x12', message) + field('\x1a', "") + field('\x22', "");
  };
  const std::string v1 = field('\x0a', "example.com/v1") + field('\x12', "v1");
  const std::string v1alpha1 = field('\x0a', "example.com/v1alpha1") + field('\x12', "v1alpha1");
  const std::string group = field('\x0a', "example.com") + field('\x12', v1) +
                            field('\x12', v1alpha1) + field('\x1a', v1);
  const std::string address = field('\x0a', "0.0.0.0/0") + field('\x12', "127.0.0.1:0");
  std::string verbs;
  for (const char* verb :
       {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}) {
    verbs += field('\x0a', verb);
  }
  const std::string widgets =
      field('\x0a', "widgets") + std::string("\x10\x01", 2) + field('\x1a', "Widget") +
      field('\x22', verbs) + field('\x2a', "wd") + field('\x32', "widget") + field('\x42', "") +
      field('\x4a', "") +
      field('\x52', apiserver::discovery::StorageVersionHash({"example.com", "v1", "Widget"}));

  const auto get = [&](const std::string& path) {
    const auto answer = server->Call("GET", path, "", {{"Accept", kProtobuf}});
    CHECK(answer.code == 200);
    CHECK(answer.headers.Get("Content-Type") == kProtobuf);
    return answer.body;
  };

  CHECK(get("/apis") == unknown("APIGroupList", field('\x0a', group + field('\x22', address))));
  CHECK(get("/apis/example.com") == unknown("APIGroup", group));
  CHECK(get("/apis/example.com/v1") ==
        unknown("APIResourceList", field('\x0a', "example.com/v1") + field('\x12', widgets)));
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
