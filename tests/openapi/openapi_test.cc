#include <catch2/catch.hpp>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/spec.h"
#include "codec/gadget.h"
#include "widget_server.h"

using apiserver::openapi::Lint;
using apiserver::testing::Contains;
using apiserver::testing::StartWidgetServer;
using apiserver::testing::WidgetKind;

namespace {

// A document and the arena its values live in.
struct Parsed {
  explicit Parsed(const std::string& json) : text(json) {
    root = apiserver::codec::ParseJson(text, arena).value();
  }
  std::string text;
  apiserver::runtime::Arena arena;
  apiserver::runtime::Value root;
};

}  // namespace

TEST_CASE("openapi: v2 defines each version of a kind and its list", "[openapi]") {
  const auto server = StartWidgetServer();

  const Parsed document(server->Call("GET", "/openapi/v2").body);

  const auto definitions = document.root["definitions"];
  const auto widget = definitions["com.example.v1.Widget"];
  CHECK(widget["x-kubernetes-group-version-kind"].at(0)["kind"].AsString() == "Widget");
  CHECK(widget["properties"]["spec"]["$ref"].AsString() ==
        "#/definitions/com.example.v1.WidgetSpec");
  CHECK(definitions["com.example.v1.WidgetSpec"]["properties"]["size"]["format"].AsString() ==
        "int32");
  CHECK(definitions["com.example.v1alpha1.WidgetSpec"]["properties"].Find("length"));
  CHECK(definitions["com.example.v1.WidgetList"]["properties"]["items"]["type"].AsString() ==
        "array");
  CHECK(definitions.Find("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"));
}

TEST_CASE("openapi: v3 lists a document per group version under a hash", "[openapi]") {
  const auto server = StartWidgetServer();

  const Parsed index(server->Call("GET", "/openapi/v3").body);
  const std::string url(index.root["paths"]["apis/example.com/v1"]["serverRelativeURL"].AsString());
  const auto current = server->Call("GET", url);
  const auto stale = server->Call("GET", "/openapi/v3/apis/example.com/v1?hash=OLD");
  const auto none = server->Call("GET", "/openapi/v3/apis/nobody/v1");

  CHECK(url.starts_with("/openapi/v3/apis/example.com/v1?hash="));
  CHECK(current.code == 200);
  CHECK(current.headers.Get("Cache-Control") == "public, immutable");
  CHECK(stale.code == 301);
  CHECK(stale.headers.Get("Location") == url);
  CHECK(none.code == 200);
  CHECK(none.body.empty());
  CHECK(Lint(current.body).empty());
}

// The paths and operations of routes.OpenAPI.InstallV3 and endpoints/discovery.
TEST_CASE("openapi: v3 lists the discovery paths and the version too", "[openapi]") {
  const auto server = StartWidgetServer();

  const auto answer = server->Call("GET", "/openapi/v3");
  const Parsed index(answer.body);
  const std::string etag(answer.headers.Get("Etag"));
  const auto again = server->Call("GET", "/openapi/v3", "", {{"If-None-Match", etag}});

  std::vector<std::string> paths;
  for (const auto& member : index.root["paths"].members()) {
    paths.emplace_back(member.key);
    const std::string url(member.value["serverRelativeURL"].AsString());
    const auto document = server->Call("GET", url);
    INFO(url << " " << document.body);
    const std::string hash(document.headers.Get("Etag"));
    CHECK(document.code == 200);
    CHECK(url == "/openapi/v3/" + paths.back() + "?hash=" + hash.substr(1, hash.size() - 2));
    CHECK(Lint(document.body).empty());
  }
  CHECK(paths == std::vector<std::string>{"apis", "apis/example.com", "apis/example.com/v1",
                                          "apis/example.com/v1alpha1", "version"});
  CHECK(etag.size() == 130);  // A SHA-512 in hex and in quotes.
  CHECK(again.code == 304);
  CHECK(again.body.empty());
}

TEST_CASE("openapi: the discovery paths have upstream's operations", "[openapi]") {
  const auto server = StartWidgetServer();
  struct Row {
    std::string document;
    std::string path;
    std::string operation;
    std::string tag;
    std::string definition;
  };
  const std::string meta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
  for (const Row& row : std::vector<Row>{
           {"apis", "/apis/", "getAPIVersions", "apis", meta + "APIGroupList"},
           {"apis/example.com", "/apis/example.com/", "getExampleComAPIGroup", "exampleCom",
            meta + "APIGroup"},
           {"apis/example.com/v1", "/apis/example.com/v1/", "getExampleComV1APIResources",
            "exampleCom_v1", meta + "APIResourceList"}}) {
    const auto answer = server->Call("GET", "/openapi/v3/" + row.document);
    const Parsed document(answer.body);
    const Parsed v2(server->Call("GET", "/openapi/v2").body);
    INFO(row.path << " " << answer.body);

    const auto operation = document.root["paths"][row.path]["get"];

    CHECK(operation["operationId"].AsString() == row.operation);
    CHECK(operation["tags"].at(0).AsString() == row.tag);
    CHECK(
        operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].AsString() ==
        "#/components/schemas/" + row.definition);
    CHECK(document.root["components"]["schemas"].Find(row.definition));
    CHECK(v2.root["paths"][row.path]["get"]["operationId"].AsString() == row.operation);
    CHECK(v2.root["definitions"].Find(row.definition));
  }
}

TEST_CASE("openapi: the protobuf form goes by its proper name and has an ETag", "[openapi]") {
  const auto server = StartWidgetServer();
  // What kubectl up to 1.28 sends; the '@' is no valid media type.
  const apiserver::http::Headers accept{
      {"Accept", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"}};

  const auto first = server->Call("GET", "/openapi/v2", "", accept);
  const auto again = server->Call("GET", "/openapi/v2", "",
                                  {{"If-None-Match", std::string(first.headers.Get("Etag"))}});
  const auto html = server->Call("GET", "/openapi/v2", "", {{"Accept", "text/html"}});

  CHECK(first.headers.Get("Content-Type") ==
        "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  // Document.swagger = 1: "2.0".
  CHECK(first.body.substr(0, 5) == std::string("\x0a\x03") + "2.0");
  CHECK(again.code == 304);
  CHECK(html.code == 406);
}

TEST_CASE("openapi: every parameter and patch type that is listed is honoured", "[openapi]") {
  const auto server = StartWidgetServer();
  const Parsed document(server->Call("GET", "/openapi/v2").body);
  const auto item =
      document.root["paths"]["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"];

  const auto patch = item["patch"];

  REQUIRE(patch["consumes"].size() == 4);
  CHECK(patch["consumes"].at(3).AsString() == "application/apply-patch+yaml");
  for (const auto& type : patch["consumes"].items()) {
    const auto answer = server->Call("PATCH", "/apis/example.com/v1/namespaces/default/widgets/x",
                                     "[]", {{"Content-Type", std::string(type.AsString())}});
    CHECK(answer.code != 415);
  }
  // kubectl reads from these whether it may dry-run, and force an apply.
  std::vector<std::string> names;
  for (const auto& parameter : patch["parameters"].items()) {
    names.emplace_back(parameter["name"].AsString());
  }
  CHECK(names == std::vector<std::string>{"name", "namespace", "pretty", "dryRun", "fieldManager",
                                          "fieldValidation", "force", "body"});
  CHECK(patch["x-kubernetes-action"].AsString() == "patch");
  CHECK(patch["operationId"].AsString() == "patchExampleComV1NamespacedWidget");
}

// As kube-apiserver 1.35.4 publishes them.
TEST_CASE("openapi: what all servers define is said as Kubernetes says it", "[openapi]") {
  const auto server = StartWidgetServer();
  const Parsed v2(server->Call("GET", "/openapi/v2").body);
  const Parsed v3(server->Call("GET", "/openapi/v3/apis/example.com/v1").body);
  const std::string meta = "io.k8s.apimachinery.pkg.apis.meta.v1.";
  const auto one = v2.root["definitions"];
  const auto other = v3.root["components"]["schemas"];

  CHECK(other[meta + "Time"]["format"].AsString() == "date-time");
  const auto time = other[meta + "ObjectMeta"]["properties"]["creationTimestamp"];
  CHECK(time["description"].AsString().starts_with("CreationTimestamp is a timestamp"));
  CHECK(time["allOf"].at(0)["$ref"].AsString() == "#/components/schemas/" + meta + "Time");
  CHECK(one[meta + "ObjectMeta"]["properties"]["creationTimestamp"]["$ref"].AsString() ==
        "#/definitions/" + meta + "Time");
  // Defaults are for v3 alone.
  const auto causes = other[meta + "StatusDetails"]["properties"]["causes"]["items"];
  CHECK(causes["default"].is_map());
  CHECK(causes["allOf"].size() == 1);
  const auto causes_of_v2 = one[meta + "StatusDetails"]["properties"]["causes"]["items"];
  CHECK(causes_of_v2.size() == 1);
  CHECK(causes_of_v2["$ref"].AsString() == "#/definitions/" + meta + "StatusCause");
  // They belong to the groups of the server.
  for (const char* kind : {"DeleteOptions", "WatchEvent"}) {
    const auto gvks = one[meta + kind]["x-kubernetes-group-version-kind"];
    REQUIRE(gvks.size() == 3);
    CHECK(gvks.at(2)["group"].AsString() == "example.com");
  }
}

TEST_CASE("openapi: lint finds references to nothing, twins and escapes", "[openapi]") {
  CHECK(Lint(R"({"paths":{},"definitions":{}})").empty());
  CHECK(Lint(R"({"a":{"$ref":"#/definitions/none"},"definitions":{}})") ==
        std::vector<std::string>{"$ref to nothing: none"});
  CHECK(Lint(R"({"a":{"$ref":"#/definitions/x~1y"},"definitions":{"x~1y":{}}})") ==
        std::vector<std::string>{"$ref with an escape: x~1y"});
  CHECK(Lint(R"({"a":{"operationId":"o"},"b":{"operationId":"o"},"definitions":{}})") ==
        std::vector<std::string>{"operation id used twice: o"});
  const std::string gvk =
      R"({"x-kubernetes-group-version-kind":[{"group":"g","version":"v","kind":"K"}]})";
  CHECK(Lint(R"({"definitions":{"a":)" + gvk + R"(,"b":)" + gvk + "}}") ==
        std::vector<std::string>{"kind defined twice: g/v K"});
  CHECK_FALSE(Lint("{").empty());
}

TEST_CASE("openapi: a route to a definition that is not there is refused", "[openapi]") {
  const auto built =
      apiserver::openapi::Build({.kinds = {WidgetKind()},
                                 .routes = {{.method = "GET",
                                             .path = "/x",
                                             .operation_id = "x",
                                             .responses = {{200, "com.example.Missing"}}}}});

  REQUIRE_FALSE(built.ok());
  CHECK(Contains(std::string(built.status().message()), "$ref to nothing: com.example.Missing"));
}

TEST_CASE("openapi: a kind from .proto is explained with its comments and markers", "[openapi]") {
  const auto built = apiserver::openapi::Build(
      {.kinds = {apiserver::codec::testing::GadgetKind()},
       .routes = {{.method = "GET",
                   .path = "/x",
                   .operation_id = "x",
                   .responses = {{200, "com.example.gadget.v1.Gadget"}}}}});
  INFO(built.status().ToString());
  REQUIRE(built.ok());

  const Parsed document((*built)->v2.json);

  const auto definitions = document.root["definitions"];
  const auto gadget = definitions["com.example.gadget.v1.Gadget"];
  CHECK(gadget["properties"]["spec"]["description"].AsString() == "What is wanted.");
  const auto spec = definitions["com.example.gadget.v1.GadgetSpec"];
  CHECK(spec["required"].size() == 3);
  const auto replicas = spec["properties"]["replicas"];
  CHECK(replicas["description"].AsString() == "How many; one if nothing is said.");
  CHECK(replicas["default"].AsInt() == 1);
  CHECK(replicas["maximum"].AsInt() == 100);
  CHECK(spec["properties"]["color"]["enum"].at(1).AsString() == "Blue");
  CHECK(spec["properties"]["ports"]["x-kubernetes-list-map-keys"].at(1).AsString() == "protocol");
  CHECK(spec["properties"]["ports"]["x-kubernetes-patch-merge-key"].AsString() == "port");
  CHECK(spec["properties"]["url"]["type"].AsString() == "string");
  // Said of the field, not of the type that others use too.
  CHECK(spec["properties"]["strategy"]["x-kubernetes-patch-strategy"].AsString() == "retainKeys");
  const auto strategy = definitions["com.example.gadget.v1.Strategy"];
  CHECK(strategy["x-kubernetes-map-type"].AsString() == "atomic");
  CHECK(strategy["x-kubernetes-patch-strategy"].is_null());
}
