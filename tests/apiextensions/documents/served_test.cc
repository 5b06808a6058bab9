// Discovery and OpenAPI of custom resources over HTTP, as kubectl asks for them.

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiextensions/fixture.h"
#include "apiserver/openapi/spec.h"

namespace {

using apiserver::openapi::Lint;
using apiserver::runtime::Value;
using apiserver::testing::Answer;
using apiserver::testing::Contains;
using apiserver::testing::CustomServer;
using apiserver::testing::Eventually;
using apiserver::testing::FooDefinition;
using apiserver::testing::kDefinitions;

constexpr char kFooDocument[] = "/openapi/v3/apis/example.com/v1";
const std::string kFooName = std::string(kDefinitions) + "/foos.example.com";

// Returns what the index of v3 says of a group version: its URL.
std::string IndexedUrl(const CustomServer& server, const std::string& path) {
  return std::string(server.Get("/openapi/v3")["paths"][path]["serverRelativeURL"].AsString());
}

Answer Aggregated(const CustomServer& server) {
  return server.Call(
      "GET", "/apis", "",
      {{"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}});
}

// Returns the aggregated form of a group. Null: it is not there.
Value GroupIn(const Answer& aggregated, std::string_view group) {
  for (const Value& each : aggregated["items"].items()) {
    if (each["metadata"]["name"].AsString() == group) return each;
  }
  return {};
}

}  // namespace

// TestDiscovery, TestSubresourcesDiscovery
TEST_CASE("apiextensions: discovery shows what is defined, and no more", "[apiextensions]") {
  const CustomServer server;
  CHECK(server.Get("/apis/example.com").code == 404);
  server.Define(FooDefinition(R"("subresources":{"status":{},"scale":{)"
                              R"("specReplicasPath":".spec.replicas",)"
                              R"("statusReplicasPath":".status.replicas"}},)"));

  REQUIRE(Eventually([&] { return server.Get("/apis/example.com/v1").code == 200; }));
  const Answer group = server.Get("/apis/example.com");
  const Answer version = server.Get("/apis/example.com/v1");
  const Answer aggregated = Aggregated(server);

  CHECK(group["preferredVersion"]["version"].AsString() == "v1");
  REQUIRE(version["resources"].size() == 3);
  CHECK(version["resources"].at(0)["name"].AsString() == "foos");
  CHECK(version["resources"].at(0)["verbs"].at(0).AsString() == "delete");
  CHECK(version["resources"].at(0)["shortNames"].at(0).AsString() == "fo");
  CHECK(version["resources"].at(1)["name"].AsString() == "foos/status");
  CHECK(version["resources"].at(2)["group"].AsString() == "autoscaling");
  const Value resource = GroupIn(aggregated, "example.com")["versions"].at(0)["resources"].at(0);
  CHECK(resource["resource"].AsString() == "foos");
  CHECK(resource["scope"].AsString() == "Namespaced");
  CHECK(resource["subresources"].at(1)["responseKind"]["kind"].AsString() == "Scale");

  REQUIRE(server.Call("DELETE", kFooName).code == 200);
  CHECK(Eventually([&] { return server.Get("/apis/example.com").code == 404; }));
  CHECK(GroupIn(Aggregated(server), "example.com").is_null());
  CHECK(server.Get("/apis/example.com/v1").code == 404);
}

// SortedByGroupAndVersion of kube-aggregator goes by the names of APIServices, "v1.example.com".
TEST_CASE("apiextensions: groups are listed by the names of their versions", "[apiextensions]") {
  const CustomServer server;
  for (const auto& [group, version] : std::vector<std::pair<std::string, std::string>>{
           {"a.example.com", "v2"}, {"c.example.com", "v1"}, {"b.example.com", "v1"}}) {
    std::string definition = FooDefinition();
    for (std::size_t at; (at = definition.find("example.com\"")) != std::string::npos;) {
      definition.replace(at, 12, group + "'");
    }
    std::ranges::replace(definition, '\'', '"');
    definition.replace(definition.find("\"name\":\"v1\""), 11, "\"name\":\"" + version + "\"");
    server.Define(definition, "foos." + group);
  }
  const auto custom = [](Value list, const auto& name_of) {
    std::vector<std::string> names;
    for (const Value& each : list.items()) {
      const std::string name(name_of(each));
      if (name.ends_with("example.com")) names.push_back(name);
    }
    return names;
  };
  REQUIRE(Eventually([&] { return server.Get("/apis/b.example.com").code == 200; }));

  const Answer listed = server.Get("/apis");
  const Answer aggregated = Aggregated(server);

  CHECK(custom(listed["groups"], [](Value each) { return each["name"].AsString(); }) ==
        std::vector<std::string>{"b.example.com", "c.example.com", "a.example.com"});
  CHECK(custom(aggregated["items"], [](Value each) {
          return each["metadata"]["name"].AsString();
        }) == std::vector<std::string>{"a.example.com", "b.example.com", "c.example.com"});
}

TEST_CASE("apiextensions: the document of a version is explained and cached by its hash",
          "[apiextensions]") {
  const CustomServer server;
  server.Define(FooDefinition(R"("selectableFields":[{"jsonPath":".spec.color"}],)"));
  REQUIRE(Eventually([&] { return !IndexedUrl(server, "apis/example.com/v1").empty(); }));

  const std::string url = IndexedUrl(server, "apis/example.com/v1");
  const Answer document = server.Get(url);
  const std::string etag(document.headers.Get("Etag"));

  REQUIRE(document.code == 200);
  CHECK(Lint(document.body).empty());
  CHECK(url == std::string(kFooDocument) + "?hash=" + etag.substr(1, etag.size() - 2));
  CHECK(document.headers.Get("Cache-Control") == "public, immutable");
  CHECK(server.Call("GET", url, "", {{"If-None-Match", etag}}).code == 304);
  CHECK(server.Get(std::string(kFooDocument) + "?hash=OLD").code == 301);
  const Value foo = document["components"]["schemas"]["com.example.v1.Foo"];
  CHECK(foo["x-kubernetes-group-version-kind"].at(0)["kind"].AsString() == "Foo");
  CHECK(foo["x-kubernetes-selectable-fields"].at(0)["fieldPath"].AsString() == "spec.color");
  CHECK(foo["properties"]["spec"]["properties"]["color"]["type"].AsString() == "string");
  CHECK(document["paths"].size() == 3);
  // Beside the groups of Kubernetes, as upstream's document of custom resources.
  CHECK(document["components"]["schemas"]["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]
                ["x-kubernetes-group-version-kind"]
                    .size() == 55);
}

TEST_CASE("apiextensions: a change of a schema is a new document, a label is none",
          "[apiextensions]") {
  const CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(Eventually([&] { return !IndexedUrl(server, "apis/example.com/v1").empty(); }));
  const std::string before = IndexedUrl(server, "apis/example.com/v1");

  REQUIRE(server.Patch(kFooName, R"({"metadata":{"labels":{"a":"b"}}})").code == 200);
  CHECK(IndexedUrl(server, "apis/example.com/v1") == before);
  REQUIRE(server.Patch(kFooName, R"({"spec":{"names":{"categories":["all"]}}})").code == 200);
  REQUIRE(
      server
          .Call("PATCH", kFooName,
                R"([{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/new",)"
                R"("value":{"type":"string","description":"It is new."}}])",
                {{"Content-Type", "application/json-patch+json"}})
          .code == 200);

  CHECK(Eventually([&] { return IndexedUrl(server, "apis/example.com/v1") != before; }));
  CHECK(Contains(server.Get(IndexedUrl(server, "apis/example.com/v1")).body, "It is new."));
}

TEST_CASE("apiextensions: v2 has custom resources too", "[apiextensions]") {
  const CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(Eventually([&] { return Contains(server.Get("/openapi/v2").body, "v1.FooList"); }));

  const Answer document = server.Get("/openapi/v2");

  CHECK(Lint(document.body).empty());
  const Value operation =
      document["paths"]["/apis/example.com/v1/namespaces/{namespace}/foos/{name}"]["patch"];
  CHECK(operation["operationId"].AsString() == "patchExampleComV1NamespacedFoo");
  // kubectl up to 1.26 learns from this that it may dry-run.
  std::vector<std::string> names;
  for (const Value& each : operation["parameters"].items()) {
    names.emplace_back(each["name"].AsString());
  }
  CHECK(std::ranges::count(names, "dryRun") == 1);
  CHECK(std::ranges::count(names, "fieldValidation") == 1);
  // Their hashes, and so their texts, are Kubernetes'.
  for (const char* name : {"pretty-tJGM1-ng", "namespace-vgWSWtn3", "body-78PwaGsr",
                           "fieldManager-7c6nTn1T", "fieldManager-Qy4HdaTW", "force-tOGGb0Yi",
                           "sendInitialEvents-rLXlEK_k", "limit-1NfNmdNH", "continue-QfD61s0i"}) {
    INFO(name);
    CHECK(document["parameters"].Find(name));
  }
}
