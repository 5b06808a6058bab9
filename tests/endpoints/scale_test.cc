// The scale subresource over HTTP.
#include <catch2/catch.hpp>

#include "apiserver/codec/json.h"
#include "apiserver/registry/scale.h"
#include "media_types.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: a test.
using testing::Contains;
using testing::kJsonPatch;
using testing::kMerge;

namespace {

runtime::SchemaPtr DeckSchema(const std::string& version, const std::string& replicas) {
  const std::string prefix = "com.example." + version + ".";
  const auto spec = runtime::StructBuilder(prefix + "DeckSpec", "The spec.")
                        .Field(replicas, runtime::IntegerSchema(32))
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

// decks.example.com, scaled, in v1 and in v1alpha1, which says count for replicas.
std::unique_ptr<testing::TestServer> StartDeckServer() {
  const auto rename = [](const char* from, const char* to) {
    return [from, to](runtime::Object& deck) -> Status {
      const runtime::Value value = deck["spec"][from];
      deck.Erase("spec", from);
      if (!value.is_null()) deck.Edit("spec", to) = value;
      return {};
    };
  };
  const auto kind =
      runtime::Kind::New({.group = "example.com",
                          .kind = "Deck",
                          .plural = "decks",
                          .versions = {{.version = "v1", .schema = DeckSchema("v1", "replicas")},
                                       {.version = "v1alpha1",
                                        .schema = DeckSchema("v1alpha1", "count"),
                                        .to_hub = rename("count", "replicas"),
                                        .from_hub = rename("replicas", "count")}}})
          .value();
  testing::TestServerOptions options;
  options.resources = {{.kind = kind, .strategy = std::make_shared<testing::WidgetStrategy>()}};
  options.resources[0].subresources["scale"] = [](std::shared_ptr<registry::Store> store) {
    return registry::NewScaleStore(std::move(store),
                                   {.spec_replicas_path_in = {{"v1alpha1", ".spec.count"}},
                                    .label_selector_path = ".status.selector"});
  };
  return std::move(testing::StartTestServer(std::move(options))).value();
}

constexpr char kDecks[] = "/apis/example.com/v1/namespaces/default/decks";
const std::string kScale = std::string(kDecks) + "/a/scale";

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

namespace {

// One deck whose replicas several managers want.
class ScaledDeck {
 public:
  http::ClientResponse Write(const std::string& method, const std::string& path,
                             const std::string& manager, const std::string& body,
                             const http::Headers& headers = {}) {
    return server_->Call(method, std::string(kDecks) + "/a" + path + "fieldManager=" + manager,
                         body, headers);
  }
  http::ClientResponse Apply(const std::string& manager, const std::string& more = "") {
    return Write("PATCH", "?" + more, manager,
                 R"({"apiVersion":"example.com/v1","kind":"Deck","metadata":{"name":"a"},)"
                 R"("spec":{"replicas":1}})",
                 kApply);
  }
  http::ClientResponse ApplyScale(int replicas, const std::string& manager,
                                  const std::string& more = "") {
    return Write("PATCH", "/scale?" + more, manager,
                 R"({"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"a"},)"
                 R"("spec":{"replicas":)" +
                     std::to_string(replicas) + "}}",
                 kApply);
  }
  http::ClientResponse PatchScale(const std::string& body, const std::string& manager) {
    return Write("PATCH", "/scale?", manager, body, kMerge);
  }
  std::string Scale() { return server_->Call("GET", kScale).body; }

  // "5: a, b": the replicas and their owners.
  std::string Replicas() {
    const std::string body = server_->Call("GET", std::string(kDecks) + "/a").body;
    runtime::Arena arena;
    const runtime::Value deck = codec::ParseJson(body, arena).value();
    std::string text = std::to_string(deck["spec"]["replicas"].AsInt()) + ":";
    for (const runtime::Value& entry : deck["metadata"]["managedFields"].items()) {
      CHECK(entry["apiVersion"].AsString() == "example.com/v1");
      if (entry["fieldsV1"]["f:spec"].Find("f:replicas") == nullptr) continue;
      text.append(" ").append(entry["manager"].AsString());
    }
    return text;
  }

 private:
  const http::Headers kApply{{"Content-Type", "application/apply-patch+yaml"}};
  std::unique_ptr<testing::TestServer> server_ = StartDeckServer();
};

}  // namespace

// apply TestScaleAllResources (test/integration/apiserver/apply/scale_test.go)
TEST_CASE("endpoints: a Scale's writers own the replicas of the object", "[endpoints]") {
  ScaledDeck deck;
  CHECK(deck.Apply("apply_test").code == 201);
  CHECK(deck.Replicas() == "1: apply_test");

  // Scaling takes the replicas from who applied them,
  CHECK(deck.PatchScale(R"({"spec":{"replicas":5}})", "scale_test").code == 200);
  CHECK(deck.Replicas() == "5: scale_test");
  // who may have them back by force alone.
  const auto refused = deck.Apply("apply_test");
  CHECK(refused.code == 409);
  CHECK(Contains(refused.body, R"(conflict with \"scale_test\" with subresource \"scale\")"));
  CHECK(deck.Apply("apply_test", "force=true&").code == 200);
  CHECK(deck.Replicas() == "1: apply_test");

  // So has one who applies a Scale.
  const auto conflict = deck.ApplyScale(17, "apply_scale");
  CHECK(conflict.code == 409);
  CHECK(Contains(conflict.body, R"(conflict with \"apply_test\")"));
  CHECK(deck.ApplyScale(17, "apply_scale", "force=true&").code == 200);
  CHECK(deck.Replicas() == "17: apply_scale");

  std::string scale = deck.Scale();
  scale.replace(scale.find("\"replicas\":17"), 13, "\"replicas\":7");
  CHECK(deck.Write("PUT", "/scale?", "replace_test", scale).code == 200);
  CHECK(deck.Replicas() == "7: replace_test");
  // Two who want the same share them, until somebody scales.
  CHECK(deck.ApplyScale(7, "co_owning_test", "force=true&").code == 200);
  CHECK(deck.Replicas() == "7: co_owning_test replace_test");
  CHECK(deck.PatchScale(R"({"spec":{"replicas":8}})", "scale_test").code == 200);
  CHECK(deck.Replicas() == "8: scale_test");
}

// apply TestScaleUpdateOnlyStatus
TEST_CASE("endpoints: a Scale's status is not written, and nobody owns it", "[endpoints]") {
  ScaledDeck deck;
  REQUIRE(deck.Apply("apply_test").code == 201);

  const auto patched = deck.PatchScale(R"({"status":{"replicas":42}})", "scale_test");

  CHECK(patched.code == 200);
  CHECK(deck.Replicas() == "1: apply_test");
  CHECK(Contains(deck.Scale(), R"("status":{"replicas":0})"));
}

// managedfields TestTransformingManagedFieldsToParentMultiVersion
TEST_CASE("endpoints: who scales owns the replicas in the words of the request's version",
          "[endpoints]") {
  const auto server = StartDeckServer();
  const std::string old = "/apis/example.com/v1alpha1/namespaces/default/decks/a";
  const auto applied =
      server->Call("PATCH", old + "?fieldManager=applier",
                   R"({"apiVersion":"example.com/v1alpha1","kind":"Deck","metadata":{"name":"a"},)"
                   R"("spec":{"count":1}})",
                   {{"Content-Type", "application/apply-patch+yaml"}});
  REQUIRE(applied.code == 201);
  CHECK(Contains(server->Call("GET", old + "/scale").body, R"("spec":{"replicas":1})"));

  const auto scaled = server->Call("PATCH", old + "/scale?fieldManager=scaler",
                                   R"({"spec":{"replicas":2}})", kMerge);
  const std::string deck = server->Call("GET", old).body;

  CHECK(scaled.code == 200);
  CHECK(Contains(deck, R"("spec":{"count":2})"));
  CHECK(Contains(deck, R"("managedFields":[{"manager":"scaler","operation":"Update",)"
                       R"("apiVersion":"example.com/v1alpha1",)"));
  CHECK(Contains(deck, R"("fieldsV1":{"f:spec":{"f:count":{}}},"subresource":"scale"}])"));
}
