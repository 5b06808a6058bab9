// Custom resources over HTTP, in the scenarios of upstream's integration tests (basic_test.go,
// subresources_test.go, yaml_test.go, registration_test.go).
#include <catch2/catch.hpp>

#include <string>

#include "apiextensions/fixture.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Answer;
using testing::Contains;
using testing::CustomServer;
using testing::Eventually;
using testing::Foo;
using testing::FooDefinition;
using testing::kDefinitions;
using testing::kFoos;

namespace {

const std::string kOne = std::string(kFoos) + "/one";

// A definition of things of the cluster.
constexpr char kThings[] = R"({"apiVersion":"apiextensions.k8s.io/v1",
"kind":"CustomResourceDefinition","metadata":{"name":"things.example.com"},
"spec":{"group":"example.com","scope":"Cluster","names":{"plural":"things","kind":"Thing"},
"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

// All warnings of an answer.
std::string WarningsOf(const Answer& answer) {
  std::string warnings;
  for (const std::string_view value : answer.headers.GetAll("Warning")) {
    warnings.append(value).append("\n");
  }
  return warnings;
}

// A definition with the scale subresource.
constexpr char kScale[] = R"("subresources":{"status":{},"scale":{
"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}},)";

}  // namespace

// TestNamespaceScopedCRUD
TEST_CASE("apiextensions: objects of a namespace are created, read, changed and deleted",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  testing::Lines watch(*server.server, std::string(kFoos) + "?watch=1");
  const Answer created = server.Call("POST", kFoos, Foo("one"));
  INFO(created.body);
  REQUIRE(created.code == 201);
  CHECK(created["metadata"]["generation"].AsInt() == 1);
  CHECK(created["metadata"]["namespace"].AsString() == "default");
  CHECK_FALSE(created["metadata"]["uid"].AsString().empty());

  CHECK(server.Get(kOne)["spec"]["color"].AsString() == "red");
  const Answer list = server.Get(kFoos);
  CHECK(list["kind"].AsString() == "FooList");
  CHECK(list["items"].size() == 1);
  const std::string version(created["metadata"]["resourceVersion"].AsString());
  const std::string put = R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"one",
"resourceVersion":")" + version +
                          R"("},"spec":{"color":"blue"}})";
  const Answer updated = server.Call("PUT", kOne, put);
  INFO(updated.body);
  CHECK(updated.code == 200);
  CHECK(updated["metadata"]["generation"].AsInt() == 2);
  // The version is not the present one any more.
  CHECK(server.Call("PUT", kOne, put).code == 409);
  CHECK(server.Call("DELETE", kOne).code == 200);
  CHECK(server.Get(kOne).code == 404);
  CHECK(Contains(watch.Next(), R"({"type":"ADDED")"));
  CHECK(Contains(watch.Next(), R"({"type":"MODIFIED")"));
  CHECK(Contains(watch.Next(), R"({"type":"DELETED")"));
}

// TestClusterScopedCRUD, TestNoNamespaceReject
TEST_CASE("apiextensions: objects are found in their scope alone", "[apiextensions]") {
  CustomServer server;
  server.Define(kThings, "things.example.com");
  server.Define(FooDefinition());
  const std::string things = "/apis/example.com/v1/things";
  CHECK(server
            .Call("POST", things,
                  R"({"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"}})")
            .code == 201);
  CHECK(server.Get(things + "/t").code == 200);
  CHECK(server.Get("/apis/example.com/v1/namespaces/default/things").code == 404);
  // Over all namespaces there are only lists and watches.
  CHECK(server.Get("/apis/example.com/v1/foos").code == 200);
  CHECK(server.Call("POST", "/apis/example.com/v1/foos", Foo("one")).code == 404);
  CHECK(server.Call("DELETE", "/apis/example.com/v1/foos").code == 404);
}

// TestSameNameDiffNamespace, TestCrossNamespaceListWatch
TEST_CASE("apiextensions: lists and watches go over all namespaces", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  const std::string all = "/apis/example.com/v1/foos";
  testing::Lines watch(*server.server, all + "?watch=1");
  for (const std::string space : {"ns-a", "ns-b"}) {
    const std::string foos = "/apis/example.com/v1/namespaces/" + space + "/foos";
    CHECK(server.Call("POST", foos, Foo("one")).code == 201);
    CHECK(Contains(watch.Next(), R"("namespace":")" + space + "\""));
  }
  CHECK(server.Get(all)["items"].size() == 2);
  CHECK(server.Get("/apis/example.com/v1/namespaces/ns-a/foos")["items"].size() == 1);
  CHECK(server.Get(all + "?labelSelector=a%3Db")["items"].size() == 0);
  CHECK(server.Get(all + "?fieldSelector=metadata.name%3Done")["items"].size() == 2);
  const Answer unknown = server.Get(all + "?fieldSelector=spec.color%3Dred");
  CHECK(unknown.code == 400);
  CHECK(Contains(unknown.message(), "field label not supported: spec.color"));
}

TEST_CASE("apiextensions: what no definition defines is not found", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  CHECK(server.Get("/apis/example.com/v1/namespaces/default/bars").code == 404);
  CHECK(server.Get("/apis/example.com/v2/namespaces/default/foos").code == 404);
  CHECK(server.Get("/apis/other.com/v1/namespaces/default/foos").code == 404);
}

TEST_CASE("apiextensions: verbs and subresources that custom resources do not have",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  const Answer scale = server.Get(kOne + "/scale");
  CHECK(scale.code == 404);
  CHECK(scale.message() == R"(foos.example.com "one" not found)");
  const Answer deleted = server.Call("DELETE", kOne + "/status");
  CHECK(deleted.code == 405);
  CHECK(deleted.message() == R"(delete is not supported on resources of kind "foos.example.com")");
  for (const std::string method : {"PUT", "PATCH"}) {
    const Answer unnamed =
        server.Call(method, kFoos, "{}", {{"Content-Type", "application/merge-patch+json"}});
    CHECK(unnamed.code == 400);
    CHECK(unnamed.message() == "name must be provided");
  }
  // POST to an object creates it, if it has that name: it was authorized under that.
  const std::string two = std::string(kFoos) + "/two";
  CHECK(server.Call("POST", two, Foo("two")).code == 201);
  CHECK(server.Call("POST", two, Foo("two")).code == 409);
  const Answer other = server.Call("POST", two, Foo("three"));
  CHECK(other.code == 400);
  CHECK(other.message() ==
        "the name of the object (three) does not match the name on the URL (two)");
  // HEAD is a get here.
  CHECK(server.Call("HEAD", kOne).code == 200);
  CHECK(server.Call("HEAD", std::string(kFoos) + "/none").code == 404);
}

// TestPatch
TEST_CASE("apiextensions: patches of three types, and not the strategic one", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  CHECK(server.Patch(kOne, R"({"spec":{"color":"green"}})")["spec"]["color"].AsString() == "green");
  const Answer json =
      server.Call("PATCH", kOne, R"([{"op":"add","path":"/spec/number","value":7}])",
                  {{"Content-Type", "application/json-patch+json"}});
  CHECK(json["spec"]["number"].AsInt() == 7);
  const Answer strategic = server.Call(
      "PATCH", kOne, "{}", {{"Content-Type", "application/strategic-merge-patch+json"}});
  CHECK(strategic.code == 415);
  CHECK(strategic.message() ==
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml");
}

// TestApplyBasic
TEST_CASE("apiextensions: objects are applied by the schema of their definition",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  const Answer applied = server.Apply(kOne, Foo("one"), "fieldManager=m1");
  INFO(applied.body);
  REQUIRE(applied.code == 201);
  const Answer conflict = server.Apply(kOne, Foo("one", R"({"color":"blue"})"), "fieldManager=m2");
  CHECK(conflict.code == 409);
  CHECK(Contains(conflict.message(), R"(conflict with "m1": .spec.color)"));
  CHECK(server.Apply(kOne, Foo("one", R"({"color":"blue"})"), "fieldManager=m2&force=true").code ==
        200);
}

// TestPreserveInt
TEST_CASE("apiextensions: integers keep all of their digits", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(server.Call("POST", kFoos, Foo("one", R"({"number":9223372036854775807})")).code == 201);
  CHECK(server.Get(kOne)["spec"]["number"].AsInt() == 9223372036854775807);
}

// TestStatusSubresource, TestGenerationSubresource
TEST_CASE("apiextensions: the status is written through its subresource alone", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  const Answer created =
      server.Call("POST", kFoos, Foo("one", "{}", R"(,"status":{"phase":"made up"})"));
  REQUIRE(created.code == 201);
  CHECK(created["status"].is_null());
  const Answer status =
      server.Patch(kOne + "/status", R"({"spec":{"color":"blue"},"status":{"phase":"on"}})");
  INFO(status.body);
  CHECK(status.code == 200);
  CHECK(status["status"]["phase"].AsString() == "on");
  CHECK(status["spec"]["color"].is_null());
  CHECK(status["metadata"]["generation"].AsInt() == 1);
  const Answer main = server.Patch(kOne, R"({"spec":{"color":"blue"},"status":{"phase":"off"}})");
  CHECK(main["status"]["phase"].AsString() == "on");
  CHECK(main["metadata"]["generation"].AsInt() == 2);
  CHECK(server.Get(kOne + "/status")["status"]["phase"].AsString() == "on");
}

// TestScaleSubresource, TestApplyScaleSubresource
TEST_CASE("apiextensions: replicas are scaled through the subresource", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition(kScale));
  REQUIRE(server.Call("POST", kFoos, Foo("one", R"({"replicas":3})")).code == 201);
  const Answer scale = server.Get(kOne + "/scale");
  INFO(scale.body);
  CHECK(scale["kind"].AsString() == "Scale");
  CHECK(scale["spec"]["replicas"].AsInt() == 3);
  CHECK(server.Patch(kOne + "/scale", R"({"spec":{"replicas":5}})").code == 200);
  CHECK(server.Get(kOne)["spec"]["replicas"].AsInt() == 5);
  REQUIRE(server.Call("POST", kFoos, Foo("two", "{}")).code == 201);
  const Answer none = server.Get(std::string(kFoos) + "/two/scale");
  CHECK(none.code == 500);
  CHECK(Contains(none.message(), R"(the spec replicas field ".spec.replicas" does not exist)"));
}

// TestYAML
TEST_CASE("apiextensions: bodies and answers are YAML as well, but not protobuf",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  const std::string yaml =
      "apiVersion: example.com/v1\nkind: Foo\nmetadata:\n  name: one\nspec:\n  color: red\n";
  const Answer created = server.Call(
      "POST", kFoos, yaml, {{"Content-Type", "application/yaml"}, {"Accept", "application/yaml"}});
  CHECK(created.code == 201);
  CHECK(Contains(created.body, "\n  color: red"));
  const std::string protobuf = "application/vnd.kubernetes.protobuf";
  // A kube-apiserver 1.35.4 panics and closes the connection.
  const std::string head("k8s\0", 4);
  for (const std::string& body : {head + "\n\x16\n\x0e" + "example.com/v1" + "\x12\x04" + "Foo2",
                                  head, Foo("one"), std::string()}) {
    const Answer refused = server.Call("POST", kFoos, body, {{"Content-Type", protobuf}});
    INFO(refused.body);
    CHECK(refused.code == 400);
    CHECK(refused["kind"].AsString() == "Status");
  }
  CHECK(server.Call("GET", kOne, "", {{"Accept", protobuf}}).code == 406);
  // Only of the metadata: that has a protobuf form.
  CHECK(server
            .Call("GET", kOne, "",
                  {{"Accept", protobuf + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}})
            .code == 200);
}

TEST_CASE("apiextensions: a table shows the age if a definition has no columns",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(server.Call("POST", kFoos, Foo("one")).code == 201);
  const Answer table =
      server.Call("GET", kFoos, "", {{"Accept", "application/json;as=Table;g=meta.k8s.io;v=v1"}});
  CHECK(table["kind"].AsString() == "Table");
  CHECK(table["columnDefinitions"].size() == 2);
  CHECK(table["columnDefinitions"].at(1)["name"].AsString() == "Age");
  CHECK(table["rows"].at(0)["cells"].at(0).AsString() == "one");
}

TEST_CASE("apiextensions: a body of another kind or version is refused in upstream's words",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  const Answer other = server.Call(
      "POST", kFoos, R"({"apiVersion":"example.com/v1","kind":"Bar","metadata":{"name":"one"}})");
  CHECK(other.code == 422);
  CHECK(other.message() ==
        R"(Bar.example.com "one" is invalid: kind: Invalid value: "Bar": must be Foo)");
  const Answer version = server.Call(
      "POST", kFoos, R"({"apiVersion":"example.com/v9","kind":"Foo","metadata":{"name":"one"}})");
  CHECK(version.code == 400);
  CHECK(version.message() ==
        "the API version in the data (example.com/v9) does not match the expected API version "
        "(example.com/v1)");
}

// TestDiscovery
TEST_CASE("apiextensions: discovery shows what definitions define", "[apiextensions]") {
  CustomServer server;
  CHECK_FALSE(Contains(server.Get("/apis").body, "example.com"));
  server.Define(FooDefinition());
  // A moment after the condition can be read: documents follow it, as upstream's do.
  REQUIRE(Eventually(
      [&] { return Contains(server.Get("/apis").body, R"("groupVersion":"example.com/v1")"); }));
  CHECK(server.Get("/apis/example.com")["preferredVersion"]["version"].AsString() == "v1");
  const Answer version = server.Get("/apis/example.com/v1");
  CHECK(version["resources"].at(0)["name"].AsString() == "foos");
  CHECK(version["resources"].at(0)["shortNames"].at(0).AsString() == "fo");
  CHECK(version["resources"].at(1)["name"].AsString() == "foos/status");
  CHECK(Contains(server.Get("/openapi/v3").body, R"("apis/example.com/v1")"));
  CHECK(Contains(server.Get("/openapi/v3/apis/example.com/v1").body, "com.example.v1.Foo"));
  CHECK(Contains(server.Get("/openapi/v2").body, "com.example.v1.Foo"));
  CHECK(server.Call("DELETE", std::string(kDefinitions) + "/foos.example.com").code == 200);
  CHECK(Eventually([&] { return server.Get("/apis/example.com").code == 404; }));
}

TEST_CASE("apiextensions: names of objects are subdomains", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  const Answer bad = server.Call("POST", kFoos, Foo("Not_Valid"));
  CHECK(bad.code == 422);
  CHECK(Contains(bad.message(), R"(metadata.name: Invalid value: "Not_Valid": a lowercase RFC 1123)"
                                " subdomain must consist of"));
  const Answer generated = server.Call(
      "POST", kFoos,
      R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"generateName":"Not-Valid-"}})");
  CHECK(generated.code == 422);
  CHECK(Contains(generated.message(), "metadata.generateName: Invalid value"));
}

TEST_CASE("apiextensions: finalizers without a domain are warned of once", "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  const Answer made =
      server.Call("POST", kFoos,
                  R"({"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"one",
"finalizers":["abc","example.com","example.com/a"]}})");
  REQUIRE(made.code == 201);
  const std::string warnings = WarningsOf(made);
  CHECK(Contains(warnings,
                 R"(metadata.finalizers: \"abc\": prefer a domain-qualified finalizer name )"
                 "to avoid accidental conflicts with other finalizer writers"));
  CHECK(Contains(warnings, "including a path (/) to avoid accidental conflicts"));
  CHECK_FALSE(Contains(warnings, "example.com/a"));
  CHECK(WarningsOf(server.Patch(kOne, R"({"spec":{"color":"blue"}})")).empty());
  const Answer more = server.Patch(kOne, R"({"metadata":{"finalizers":["abc","def"]}})");
  CHECK(Contains(WarningsOf(more), "def"));
  CHECK_FALSE(Contains(WarningsOf(more), "abc"));
}

TEST_CASE("apiextensions: a deprecated version names the one to use instead", "[apiextensions]") {
  CustomServer server;
  const std::string schema = R"("schema":{"openAPIV3Schema":{"type":"object"}})";
  const std::string old =
      R"({"name":"v1alpha1","served":true,"storage":false,"deprecated":true,)" + schema + "},";
  std::string definition = FooDefinition();
  const std::string versions = R"("versions":[)";
  definition.insert(definition.find(versions) + versions.size(), old);
  server.Define(definition);
  const Answer read = server.Get("/apis/example.com/v1alpha1/namespaces/default/foos");
  CHECK(read.code == 200);
  CHECK(
      Contains(WarningsOf(read), "example.com/v1alpha1 Foo is deprecated; use example.com/v1 Foo"));
  CHECK(WarningsOf(server.Get(kFoos)).empty());
  // Whatever is asked of it: a Scale, what is not there, what is not allowed.
  const std::string one = "/apis/example.com/v1alpha1/namespaces/default/foos/one";
  const auto warns = [&](const std::string& method, const std::string& path, int code) {
    const Answer answer = server.Call(method, path, "{}");
    INFO(method << " " << path << " " << answer.body);
    CHECK(answer.code == code);
    CHECK(answer.headers.GetAll("Warning").size() == 1);
  };
  warns("GET", one + "/scale", 404);
  warns("GET", one + "/none", 404);
  warns("DELETE", one + "/none", 404);
  warns("PURGE", one, 405);
  warns("PUT", one, 400);
}

// TestSelectableFields
TEST_CASE("apiextensions: lists and watches select by fields that the definition names",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition(R"("selectableFields":[{"jsonPath":".spec.color"}],)"));
  testing::Lines watch(*server.server,
                       std::string(kFoos) + "?watch=1&fieldSelector=spec.color%3Dred");
  REQUIRE(server.Call("POST", kFoos, Foo("blue", R"({"color":"blue"})")).code == 201);
  REQUIRE(server.Call("POST", kFoos, Foo("red")).code == 201);
  const Answer list = server.Get(std::string(kFoos) + "?fieldSelector=spec.color%3Dred");
  REQUIRE(list["items"].size() == 1);
  CHECK(list["items"].at(0)["metadata"]["name"].AsString() == "red");
  CHECK(Contains(watch.Next(), R"("name":"red")"));
  // An object that matches no more has gone, for this watch.
  REQUIRE(server.Patch(std::string(kFoos) + "/red", R"({"spec":{"color":"pink"}})").code == 200);
  CHECK(Contains(watch.Next(), R"({"type":"DELETED")"));
}

TEST_CASE("apiextensions: requests for custom resources are counted under their names",
          "[apiextensions]") {
  CustomServer server;
  server.Define(FooDefinition());
  REQUIRE(server.Get(kFoos).code == 200);
  const Answer metrics = server.Get("/metrics");
  CHECK(Contains(metrics.body, R"(group="example.com",resource="foos")"));
}
