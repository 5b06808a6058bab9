// Names in documents: of operations (TestToValidOperationID of endpoints/openapi), of definitions,
// of documents of v3.
#include <catch2/catch.hpp>
#include <string>

#include "apiserver/openapi/spec.h"
#include "openapi/definitions.h"
#include "openapi/operation_ids.h"

namespace openapi_names_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

runtime::KindPtr KindOf(const std::string& group) {
  auto kind = runtime::Kind::New(
      {.group = group,
       .kind = "Flunder",
       .plural = "flunders",
       .versions = {{.version = "v1",
                     .schema = runtime::StructBuilder("")
                                   .Field("metadata", runtime::ObjectMetaSchema())
                                   .Build()}}});
  INFO(kind.status().ToString());
  REQUIRE(kind.ok());
  return *std::move(kind);
}

}  // namespace

TEST_CASE("openapi: ids of operations are words of letters and digits", "[openapi]") {
  struct Case {
    const char* text;
    const char* id;
    const char* capitalized;
  };
  const Case cases[] = {{"", "", ""},
                        {"test", "test", "Test"},
                        {"test_operation", "test_operation", "Test_operation"},
                        {"test operation& test", "testOperationTest", "TestOperationTest"},
                        {"test78operation", "test78operation", "Test78operation"},
                        {"78test", "Test", "Test"},
                        {"v1alpha1", "v1alpha1", "V1alpha1"},
                        {"wardle.example.com", "wardleExampleCom", "WardleExampleCom"},
                        {"a..b", "aB", "AB"},
                        {"a.", "a", "A"},
                        {"A-b", "AB", "AB"},
                        {"é", "", ""}};
  for (const Case& test : cases) {
    INFO(test.text);
    CHECK(openapi::ValidOperationId(test.text, false) == test.id);
    CHECK(openapi::ValidOperationId(test.text, true) == test.capitalized);
  }
}

TEST_CASE("openapi: the word of a group in operations", "[openapi]") {
  CHECK(openapi::OperationWordOf("") == "core");
  CHECK(openapi::OperationWordOf("apps") == "apps");
  CHECK(openapi::OperationWordOf("rbac.authorization.k8s.io") == "rbac.authorization");
  CHECK(openapi::OperationWordOf("wardle.example.com") == "wardle.example.com");
  CHECK(openapi::OperationWordOf("k8s.io") == "k8s.io");
}

TEST_CASE("openapi: a definition is named by its group turned round", "[openapi]") {
  struct Case {
    const char* group;
    const char* name;
  };
  const Case cases[] = {{"wardle.example.com", "com.example.wardle.v1.Flunder"},
                        {"example", "example.v1.Flunder"},
                        {"a.b.c.d", "d.c.b.a.v1.Flunder"}};
  for (const Case& test : cases) {
    CHECK(openapi::DefinitionName(*KindOf(test.group), "v1") == test.name);
  }
}

TEST_CASE("openapi: each path belongs to one document of v3", "[openapi]") {
  struct Case {
    const char* path;
    const char* document;
  };
  const Case cases[] = {{"/apis/a.io/v1/namespaces/{namespace}/as", "apis/a.io/v1"},
                        {"/apis/a.io/v1/", "apis/a.io/v1"},
                        {"/apis/a.io/v1", "apis/a.io/v1"},
                        {"/apis/a.io/", "apis/a.io"},
                        {"/apis/", "apis"},
                        {"/api/v1/pods/{name}", "api/v1"},
                        {"/api/v1/", "api/v1"},
                        {"/api/", "api"},
                        {"/version/", "version"},
                        {"/openid/v1/jwks/", "openid"},
                        {"/logs/{logpath}", "logs"}};
  for (const Case& test : cases) {
    INFO(test.path);
    CHECK(openapi::V3PathOf({.path = test.path}) == test.document);
  }
}

TEST_CASE("openapi: what a document must not have", "[openapi]") {
  struct Case {
    const char* json;
    const char* problem;  // Empty: none.
  };
  const Case cases[] = {
      {R"({"definitions":{"A":{"$ref":"#/definitions/B"},"B":{}}})", ""},
      {R"({"components":{"schemas":{"A":{"$ref":"#/components/schemas/A"}}}})", ""},
      {R"({"definitions":{"A":{"$ref":"#/definitions/B"}}})", "$ref to nothing: B"},
      {R"({"components":{"schemas":{"A":{"items":[{"$ref":"#/components/schemas/B"}]}}}})",
       "$ref to nothing: B"},
      {R"({"definitions":{"A":{"$ref":"#/components/schemas/A"}}})",
       "$ref to another place: #/components/schemas/A"},
      {R"({"definitions":{"A":{"$ref":"other.json"}}})", "$ref to another place: other.json"},
      {R"({"definitions":{"a~1b":{"$ref":"#/definitions/a~1b"}}})", "$ref with an escape: a~1b"},
      // A property may be called so.
      {R"({"definitions":{"A":{"properties":{"$ref":{"type":"string"}}}}})", ""},
      {R"({"definitions":{},"paths":{"/a":{"get":{"operationId":"x"},"put":{"operationId":"y"}}}})",
       ""},
      {R"({"definitions":{},"paths":{"/a":{"get":{"operationId":"x"}},
          "/b":{"get":{"operationId":"x"}}}})",
       "operation id used twice: x"},
      {R"({"definitions":{"A":{"x-kubernetes-group-version-kind":[{"group":"g","version":"v",
          "kind":"K"}]},"B":{"x-kubernetes-group-version-kind":[{"group":"g","version":"v2",
          "kind":"K"},{"group":"g","version":"v","kind":"K"}]}}})",
       "kind defined twice: g/v K"}};
  for (const Case& test : cases) {
    INFO(test.json);
    const auto problems = openapi::Lint(test.json);
    if (*test.problem == '\0') {
      CHECK(problems.empty());
    } else {
      CHECK(problems == std::vector<std::string>{test.problem});
    }
  }
  CHECK(openapi::Lint("{").size() == 1);
}

}  // namespace openapi_names_test
