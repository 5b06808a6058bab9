// Namespaces, asked one after the other what a kube-apiserver was asked:
// tests/testdata/core/README.md.
#include <catch2/catch.hpp>

#include <memory>
#include <regex>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/codec/json.h"
#include "apiserver/groups/core.h"
#include "apiserver/testing/server/test_server.h"
#include "json_lines.h"

using apiserver::runtime::Arena;
using apiserver::runtime::Value;
using apiserver::testing::JsonLines;
using apiserver::testing::TestServer;

namespace {

constexpr const char* kNamespaces = "/api/v1/namespaces";

std::unique_ptr<TestServer> StartNamespaces() {
  apiserver::testing::TestServerOptions options;
  options.kinds = apiserver::groups::core::ClusterResources(apiserver::RealClock()).value();
  return apiserver::testing::StartTestServer(std::move(options)).value();
}

std::string JsonOf(Value value) {
  std::string text;
  apiserver::codec::AppendJson(value, text);
  return text;
}

// Returns a namespace without what every server makes up, and without its type.
std::string LastingPart(Value object, Arena& arena) {
  Value metadata = object["metadata"];
  for (const char* key : {"uid", "creationTimestamp", "resourceVersion", "managedFields"}) {
    metadata = apiserver::runtime::Without(metadata, key, arena);
  }
  if (!metadata["deletionTimestamp"].is_null()) {
    metadata = apiserver::runtime::With(metadata, "deletionTimestamp", Value::String("set"), arena);
  }
  object = apiserver::runtime::With(object, "metadata", metadata, arena);
  object = apiserver::runtime::Without(object, "kind", arena);
  return JsonOf(apiserver::runtime::Without(object, "apiVersion", arena));
}

std::string WithoutUids(const std::string& message) {
  static const std::regex uid(
      "(?!0{8})[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  return std::regex_replace(message, uid, "UID");
}

std::string Recorded(Value row) {
  std::string text = std::to_string(row["code"].AsInt()) + " ";
  if (row["object"].is_list()) {
    for (const Value& item : row["object"].items()) text += JsonOf(item);
    return text;
  }
  if (row["object"].is_map()) return text + JsonOf(row["object"]);
  return text + JsonLines::Text(row, "reason") + ": " + JsonLines::Text(row, "message");
}

std::string Answered(const apiserver::http::ClientResponse& answer) {
  Arena arena;
  const Value body = apiserver::codec::ParseJson(answer.body, arena).value();
  std::string text = std::to_string(answer.code) + " ";
  if (body["items"].is_list()) {
    for (const Value& item : body["items"].items()) text += LastingPart(item, arena);
    return text;
  }
  if (answer.code < 300) return text + LastingPart(body, arena);
  return text + JsonLines::Text(body, "reason") + ": " +
         WithoutUids(JsonLines::Text(body, "message"));
}

}  // namespace

TEST_CASE("groups: namespaces begin, change and end as a kube-apiserver's", "[groups]") {
  const auto server = StartNamespaces();
  const JsonLines requests(std::string(APISERVER_TESTDATA) + "/core/namespaces.jsonl");
  for (const Value& row : requests.rows()) {
    const std::string method = JsonLines::Text(row, "method");
    const std::string path = JsonLines::Text(row, "path");
    const std::string body = row["body"].is_null() ? "" : JsonOf(row["body"]);
    INFO(method << " " << path << " " << body);
    apiserver::http::Headers headers;
    if (method == "PATCH") headers.Add("Content-Type", "application/merge-patch+json");
    CHECK(Answered(server->Call(method, path, body, headers)) == Recorded(row));
  }
}

TEST_CASE("groups: a namespace gets the label of the name that the server makes", "[groups]") {
  const auto server = StartNamespaces();
  const auto created =
      server->Call("POST", kNamespaces,
                   R"({"apiVersion":"v1","kind":"Namespace","metadata":{"generateName":"made-"}})");
  REQUIRE(created.code == 201);
  Arena arena;
  const Value object = apiserver::codec::ParseJson(created.body, arena).value();
  const Value metadata = object["metadata"];
  CHECK(metadata["name"].AsString().starts_with("made-"));
  CHECK(metadata["labels"]["kubernetes.io/metadata.name"] == metadata["name"]);
}

// As k8s.io/kubernetes/pkg/registry/core/rest serves them.
TEST_CASE("groups: namespaces cannot be deleted together, nor finalize be read", "[groups]") {
  const auto server = StartNamespaces();
  Arena arena;
  const Value list =
      apiserver::codec::ParseJson(server->Call("GET", "/api/v1").body, arena).value();
  std::string verbs;
  for (const Value& resource : list["resources"].items()) {
    const std::string name = JsonLines::Text(resource, "name");
    if (!name.starts_with("namespaces")) continue;
    verbs += name + JsonOf(resource["verbs"]) + "\n";
  }
  CHECK(verbs ==
        "namespaces[\"create\",\"delete\",\"get\",\"list\",\"patch\",\"update\",\"watch\"]\n"
        "namespaces/finalize[\"update\"]\n"
        "namespaces/status[\"get\",\"patch\",\"update\"]\n");
}

TEST_CASE("groups: namespaces are printed as a kube-apiserver prints them", "[groups]") {
  const auto server = StartNamespaces();
  REQUIRE(server
              ->Call("POST", kNamespaces,
                     R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"h"}})")
              .code == 201);
  REQUIRE(server->Call("DELETE", std::string(kNamespaces) + "/h").code == 200);
  const auto answer = server->Call("GET", kNamespaces, "",
                                   {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
  Arena arena;
  const Value table = apiserver::codec::ParseJson(answer.body, arena).value();
  std::string columns;
  for (const Value& column : table["columnDefinitions"].items()) {
    columns += JsonLines::Text(column, "name") + " ";
  }
  CHECK(columns == "Name Status Age ");
  CHECK(table["rows"].at(0)["cells"].at(0).AsString() == "h");
  CHECK(table["rows"].at(0)["cells"].at(1).AsString() == "Terminating");
}
