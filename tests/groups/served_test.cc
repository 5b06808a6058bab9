// Built-in kinds behind the generic store: what their schemas are good for.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/groups/apps.h"
#include "apiserver/groups/core.h"
#include "apiserver/openapi/spec.h"
#include "apiserver/testing/server/test_server.h"
#include "contains.h"

namespace {

using apiserver::http::Headers;
using apiserver::runtime::KindPtr;
using apiserver::testing::Contains;
using apiserver::testing::TestServer;

class Plain final : public apiserver::rest::Strategy {
 public:
  explicit Plain(bool namespaced) : namespaced_(namespaced) {}
  bool NamespaceScoped() const override { return namespaced_; }
  apiserver::field::ErrorList Validate(
      const apiserver::Context& /*ctx*/,
      const apiserver::runtime::Object& /*object*/) const override {
    return {};
  }

 private:
  const bool namespaced_;
};

std::unique_ptr<TestServer> Start() {
  apiserver::testing::TestServerOptions options;
  for (const auto& kinds : {apiserver::groups::core::Kinds(), apiserver::groups::apps::Kinds()}) {
    REQUIRE(kinds.ok());
    for (const KindPtr& kind : *kinds) {
      options.resources.push_back({kind, std::make_shared<Plain>(kind->namespaced())});
    }
  }
  auto server = apiserver::testing::StartTestServer(std::move(options));
  INFO(server.status().ToString());
  REQUIRE(server.ok());
  return std::move(server).value();
}

const std::string kPods = "/api/v1/namespaces/default/pods";
const std::string kPod =
    R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"},"spec":{"nodeName":"n1",)"
    R"("containers":[{"name":"a","image":"one","ports":[{"containerPort":80},)"
    R"({"containerPort":53,"protocol":"UDP"}],"env":[{"name":"X","value":"1"}]},)"
    R"({"name":"b","image":"two"}],"volumes":[{"name":"v","emptyDir":{}}]}})";
const std::string kProtobuf = "application/vnd.kubernetes.protobuf";

std::string SpecOf(const std::string& json) {
  apiserver::runtime::Arena arena;
  const auto value = apiserver::codec::ParseJson(json, arena);
  INFO(json);
  REQUIRE(value.ok());
  std::string spec;
  apiserver::codec::AppendJson((*value)["spec"], spec);
  return spec;
}

std::string Patched(TestServer& server, const std::string& spec) {
  return SpecOf(server
                    .Call("PATCH", kPods + "/p", R"({"spec":)" + spec + "}",
                          {{"Content-Type", "application/strategic-merge-patch+json"}})
                    .body);
}

TEST_CASE("groups: a pod sent in protobuf is served in every encoding", "[groups]") {
  const auto server = Start();
  const auto kinds = apiserver::groups::core::Kinds().value();
  const KindPtr kind =
      *std::ranges::find(kinds, "Pod", [](const KindPtr& one) { return one->kind(); });
  const auto pod = apiserver::codec::DecodeObject(apiserver::codec::MediaType::kJson,
                                                  std::make_shared<const std::string>(kPod),
                                                  {.kind = kind, .version = "v1"});
  REQUIRE(pod.ok());
  const std::string body =
      apiserver::codec::EncodeProtobuf(apiserver::Context::Background(), *pod->object, "v1")
          .value();

  const auto created =
      server->Call("POST", kPods, body, {{"Content-Type", kProtobuf}, {"Accept", kProtobuf}});
  const auto json = server->Call("GET", kPods + "/p");
  const auto yaml = server->Call("GET", kPods + "/p", "", {{"Accept", "application/yaml"}});
  const auto list = server->Call("GET", kPods, "", {{"Accept", kProtobuf}});

  CHECK(created.code == 201);
  CHECK(created.headers.Get("Content-Type") == kProtobuf);
  CHECK(SpecOf(json.body) ==
        R"({"volumes":[{"name":"v","emptyDir":{}}],"containers":[{"name":"a","image":"one",)"
        R"("ports":[{"containerPort":80,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}],)"
        R"("env":[{"name":"X","value":"1"}],"resources":{}},)"
        R"({"name":"b","image":"two","resources":{}}],"nodeName":"n1"})");
  CHECK(Contains(yaml.body, "  - emptyDir: {}\n    name: v\n"));
  CHECK(list.code == 200);
  CHECK(list.headers.Get("Content-Type") == kProtobuf);
  CHECK(Contains(list.body, "PodList"));
}

TEST_CASE("groups: a strategic merge patch finds containers, ports and variables by their keys",
          "[groups]") {
  const auto server = Start();
  REQUIRE(server->Call("POST", kPods, kPod).code == 201);

  CHECK(Patched(*server, R"({"volumes":[{"name":"v","hostPath":{"path":"/x"},)"
                         R"("$retainKeys":["name","hostPath"]}]})")
            .starts_with(R"({"volumes":[{"name":"v","hostPath":{"path":"/x"}}],)"));
  CHECK(Contains(Patched(*server, R"({"containers":[{"name":"b","image":"three"}]})"),
                 R"({"name":"b","image":"three","resources":{}}])"));
  CHECK(Contains(Patched(*server, R"({"containers":[{"name":"a","env":[{"name":"X","value":"2"},)"
                                  R"({"name":"Y","value":"3"}]}]})"),
                 R"("env":[{"name":"X","value":"2"},{"name":"Y","value":"3"}])"));
  CHECK(Contains(Patched(*server, R"({"containers":[{"name":"a","ports":[{"containerPort":53,)"
                                  R"("$patch":"delete"}]}]})"),
                 R"("ports":[{"containerPort":80,"protocol":"TCP"}])"));
}

TEST_CASE("groups: pods are selected by the fields that clients select them by", "[groups]") {
  const auto server = Start();
  REQUIRE(server->Call("POST", kPods, kPod).code == 201);

  const auto there = server->Call("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn1");
  const auto none = server->Call("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn2");
  const auto unknown = server->Call("GET", "/api/v1/pods?fieldSelector=spec.hostname%3Dx");

  CHECK(Contains(there.body, R"("name":"p")"));
  CHECK(Contains(none.body, R"("items":[])"));
  CHECK(unknown.code == 400);
  CHECK(Contains(unknown.body, "spec.hostname"));
}

TEST_CASE("groups: OpenAPI tells clients how lists of pods and deployments are merged",
          "[groups]") {
  const auto server = Start();

  const auto core = server->Call("GET", "/openapi/v3/api/v1");
  const auto apps = server->Call("GET", "/openapi/v3/apis/apps/v1");
  const auto v2 = server->Call("GET", "/openapi/v2");

  CHECK(core.code == 200);
  CHECK(Contains(core.body, R"("x-kubernetes-list-map-keys":["containerPort","protocol"])"));
  CHECK(Contains(core.body, R"("x-kubernetes-patch-strategy":"merge,retainKeys")"));
  CHECK(Contains(core.body, "The containers; at least one. Cannot be added or removed."));
  CHECK(apps.code == 200);
  CHECK(Contains(apps.body, "io.k8s.api.core.v1.PodTemplateSpec"));
  CHECK(v2.code == 200);
  CHECK(Contains(v2.body, R"("io.k8s.api.apps.v1.DeploymentSpec")"));
}

TEST_CASE("groups: the OpenAPI documents of a server have nothing that Lint finds", "[groups]") {
  const auto server = Start();
  apiserver::runtime::Arena arena;

  const std::string v2 = server->Call("GET", "/openapi/v2").body;
  CHECK(Contains(v2, "io.k8s.api.apps.v1.Deployment"));
  CHECK(apiserver::openapi::Lint(v2) == std::vector<std::string>());
  const std::string index = server->Call("GET", "/openapi/v3").body;
  const auto paths = apiserver::codec::ParseJson(index, arena).value()["paths"].members();
  CHECK(paths.size() >= 6);
  for (const auto& path : paths) {
    const std::string url(path.value["serverRelativeURL"].AsString());
    CAPTURE(url);
    CHECK(apiserver::openapi::Lint(server->Call("GET", url).body) == std::vector<std::string>());
  }
}

}  // namespace
