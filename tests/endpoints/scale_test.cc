// The scale subresource over HTTP.
#include <catch2/catch.hpp>

#include "apiserver/codec/json.h"
#include "apiserver/registry/scale.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;

namespace {

runtime::SchemaPtr DeckSchema(const std::string& version) {
  const std::string prefix = "com.example." + version + ".";
  const auto spec = runtime::StructBuilder(prefix + "DeckSpec", "The spec.")
                        .Field("replicas", runtime::IntegerSchema(32))
                        .Build();
  const auto status = runtime::StructBuilder(prefix + "DeckStatus", "The status.")
                          .Field("replicas", runtime::IntegerSchema(32))
                          .Field("selector", runtime::StringSchema())
                          .Build();
  return runtime::StructBuilder(prefix + "Deck", "A deck.")
      .Field("metadata", runtime::ObjectMetaSchema())
      .Field("spec", spec)
      .Field("status", status)
      .Build();
}

// decks.example.com in two versions, scaled.
std::unique_ptr<testing::TestServer> StartDeckServer() {
  const auto kind =
      runtime::Kind::New({.group = "example.com",
                          .kind = "Deck",
                          .plural = "decks",
                          .versions = {{.version = "v1", .schema = DeckSchema("v1")},
                                       {.version = "v1alpha1", .schema = DeckSchema("v1alpha1")}}})
          .value();
  testing::TestServerOptions options;
  options.resources = {{.kind = kind, .strategy = std::make_shared<testing::WidgetStrategy>()}};
  options.resources[0].subresources["scale"] = [](std::shared_ptr<registry::Store> store) {
    return registry::NewScaleStore(std::move(store), {.label_selector_path = ".status.selector"});
  };
  return std::move(testing::StartTestServer(std::move(options))).value();
}

constexpr char kDecks[] = "/apis/example.com/v1/namespaces/default/decks";
const std::string kScale = std::string(kDecks) + "/a/scale";
const http::Headers kMerge{{"Content-Type", "application/merge-patch+json"}};
const http::Headers kJsonPatch{{"Content-Type", "application/json-patch+json"}};

std::unique_ptr<testing::TestServer> StartWithDeck() {
  auto server = StartDeckServer();
  const auto created = server->Call("POST", kDecks,
                                    R"({"metadata":{"name":"a"},"spec":{"replicas":3},)"
                                    R"("status":{"replicas":2,"selector":"x=y"}})");
  REQUIRE(created.code == 201);
  return server;
}

}  // namespace

TEST_CASE("endpoints: a Scale is read in every version of its resource", "[endpoints]") {
  const auto server = StartWithDeck();

  const auto scale = server->Call("GET", kScale);
  const auto other =
      server->Call("GET", "/apis/example.com/v1alpha1/namespaces/default/decks/a/scale");
  const auto missing = server->Call("GET", std::string(kDecks) + "/none/scale");

  CHECK(scale.code == 200);
  CHECK(scale.body.starts_with(R"({"kind":"Scale","apiVersion":"autoscaling/v1",)"
                               R"("metadata":{"name":"a","namespace":"default","uid":")"));
  CHECK(scale.body.ends_with(R"("spec":{"replicas":3},"status":{"replicas":2,"selector":"x=y"}})"
                             "\n"));
  CHECK(other.body == scale.body);
  CHECK(missing.code == 404);
  CHECK(Contains(missing.body, R"(decks.example.com \"none\" not found)"));
}

// What kubectl scale sends: a merge patch or, with --current-replicas, GET and PUT.
TEST_CASE("endpoints: kubectl scale's requests scale", "[endpoints]") {
  const auto server = StartWithDeck();

  const auto patched = server->Call("PATCH", kScale, R"({"spec":{"replicas":5}})", kMerge);
  const std::string read = server->Call("GET", kScale).body;
  std::string body = read;
  body.replace(body.find("\"replicas\":5"), 12, "\"replicas\":0");
  const auto put = server->Call("PUT", kScale, body);
  const auto stale = server->Call("PUT", kScale, read);

  CHECK(patched.code == 200);
  CHECK(Contains(patched.body, R"("spec":{"replicas":5})"));
  CHECK(put.code == 200);
  CHECK(Contains(put.body, R"("spec":{},"status")"));
  CHECK(stale.code == 409);
  CHECK(Contains(server->Call("GET", std::string(kDecks) + "/a").body, R"("spec":{},"status")"));
}

TEST_CASE("endpoints: what is wrong with a Scale is said in Kubernetes' words", "[endpoints]") {
  const auto server = StartWithDeck();
  const std::string put = R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a",)"
                          R"("namespace":"default"},"spec":{"replicas":)";
  struct Row {
    std::string method;
    std::string body;
    const http::Headers& headers;
    int code;
    std::string text;
  };
  const http::Headers none;
  const std::vector<Row> rows{
      {"PATCH", R"({"spec":{"replicas":-1}})", kMerge, 422,
       R"(Scale.autoscaling \"a\" is invalid: spec.replicas: Invalid value: -1: must be )"
       "greater than or equal to 0"},
      {"PUT", put + "-2}}", none, 422, "Invalid value: -2"},
      {"PUT", put + R"("x"}})", none, 400, "Scale"},
      {"PUT", R"({"apiVersion":"example.com/v1","kind":"Deck","metadata":{"name":"a"}})", none, 400,
       "Deck"},
      {"PUT", R"({"apiVersion":"autoscaling/v2","kind":"Scale","metadata":{"name":"a"}})", none,
       400, "autoscaling/v2"},
      {"PUT", R"({"metadata":{"name":"b"},"spec":{}})", none, 400,
       "the name of the object (b) does not match the name on the URL (a)"},
      {"PATCH", R"({"metadata":{"uid":"other"}})", kMerge, 409,
       "Precondition failed: UID in precondition: other, UID in object meta: "},
      {"PATCH", R"({"metadata":{"resourceVersion":"1"},"spec":{"replicas":9}})", kMerge, 409,
       "the object has been modified"},
      {"PATCH", R"([{"op":"test","path":"/spec/replicas","value":4}])", kJsonPatch, 422,
       "the server rejected our request due to an error in our request"},
      {"POST", put + "1}}", none, 405, "MethodNotAllowed"},
      {"DELETE", "", none, 405, "MethodNotAllowed"},
  };
  for (const Row& row : rows) {
    INFO(row.method + " " + row.body);

    const auto answer = server->Call(row.method, kScale, row.body, row.headers);

    INFO(answer.body);
    CHECK(answer.code == row.code);
    CHECK(Contains(answer.body, row.text));
  }
  CHECK(Contains(server->Call("GET", kScale).body, R"("spec":{"replicas":3})"));
}

TEST_CASE("endpoints: a Scale may be written in any form of body", "[endpoints]") {
  const auto server = StartWithDeck();

  const auto yaml = server->Call("PUT", kScale, "metadata: {name: a}\nspec: {replicas: 6}\n",
                                 {{"Content-Type", "application/yaml"}});
  const auto patched = server->Call(
      "PATCH", kScale, R"([{"op":"replace","path":"/spec/replicas","value":7}])", kJsonPatch);
  const auto dry =
      server->Call("PATCH", kScale + "?dryRun=All", R"({"spec":{"replicas":8}})", kMerge);
  const auto strict = server->Call("PATCH", kScale + "?fieldValidation=Strict",
                                   R"({"spec":{"replica":8}})", kMerge);

  // Without resourceVersion the strategy decides, and this one wants it.
  CHECK(yaml.code == 422);
  CHECK(patched.code == 200);
  CHECK(Contains(patched.body, R"("spec":{"replicas":7})"));
  CHECK(dry.code == 200);
  CHECK(Contains(dry.body, R"("spec":{"replicas":8})"));
  CHECK(strict.code == 422);
  CHECK(Contains(strict.body, R"(unknown field \"spec.replica\")"));
  CHECK(Contains(server->Call("GET", kScale).body, R"("spec":{"replicas":7})"));
}

TEST_CASE("endpoints: discovery names the kind of a scale subresource", "[endpoints]") {
  const auto server = StartDeckServer();

  const auto resources = server->Call("GET", "/apis/example.com/v1");

  CHECK(
      Contains(resources.body,
               R"({"name":"decks/scale","singularName":"","namespaced":true,"group":)"
               R"("autoscaling","version":"v1","kind":"Scale","verbs":["get","patch","update"]})"));
  // The group itself is not served.
  CHECK_FALSE(Contains(server->Call("GET", "/apis").body, "autoscaling"));
}

TEST_CASE("endpoints: OpenAPI describes Scales once", "[endpoints]") {
  const auto server = StartDeckServer();

  const auto v2 = server->Call("GET", "/openapi/v2");

  REQUIRE(v2.code == 200);
  runtime::Arena arena;
  const runtime::Value document = codec::ParseJson(v2.body, arena).value();
  const runtime::Value definitions = document["definitions"];
  CHECK(definitions.Find("io.k8s.api.autoscaling.v1.Scale") != nullptr);
  CHECK(definitions.Find("io.k8s.api.autoscaling.v1.ScaleStatus") != nullptr);
  CHECK(definitions.Find("io.k8s.api.autoscaling.v1.ScaleList") == nullptr);
  const runtime::Value put =
      document["paths"]["/apis/example.com/v1/namespaces/{namespace}/decks/{name}/scale"]["put"];
  CHECK(put["operationId"].AsString() == "replaceExampleComV1NamespacedDeckScale");
  CHECK(put["description"].AsString() == "replace scale of the specified Deck");
  CHECK(put["x-kubernetes-group-version-kind"]["group"].AsString() == "autoscaling");
  CHECK(put["x-kubernetes-group-version-kind"]["kind"].AsString() == "Scale");
}

TEST_CASE("endpoints: a Table of a Scale has its columns", "[endpoints]") {
  const auto server = StartWithDeck();

  const auto table =
      server->Call("GET", kScale, "", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});

  CHECK(table.code == 200);
  CHECK(Contains(table.body, R"("name":"Desired")"));
  CHECK(Contains(table.body, R"("cells":["a",3,2,)"));
}
