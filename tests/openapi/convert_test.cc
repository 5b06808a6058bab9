// Documents of v2 in the form of v3: tests/testdata/kube-openapi/README.md.
#include "apiserver/openapi/convert.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>
#include <string>

#include "apiserver/codec/json.h"

namespace convert_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.

std::string ReadDocument(const std::string& name) {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/kube-openapi/" + name + ".json");
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Converted(const std::string& json) {
  const auto v3 = openapi::ConvertV2ToV3(json, {"a.com", "v1"});
  INFO(v3.status().ToString());
  REQUIRE(v3.ok());
  CHECK_FALSE(v3->etag.empty());
  return v3->json;
}

// TestConvert of openapiconv/convert_test.go.
TEST_CASE("openapi: a document of v2 is converted as kube-openapi does", "[openapi]") {
  const auto v3 = openapi::ConvertV2ToV3(ReadDocument("v2_apiextensions.k8s.io.v1"),
                                         {"apiextensions.k8s.io", "v1"});
  REQUIRE(v3.ok());
  runtime::Arena arena;
  const auto actual = codec::ParseJson(v3->json, arena);
  const std::string text = ReadDocument("v3_apiextensions.k8s.io.v1");
  const auto expected = codec::ParseJson(text, arena);
  REQUIRE(actual.ok());
  REQUIRE(expected.ok());
  CHECK((*actual)["info"] == (*expected)["info"]);
  CHECK((*actual)["openapi"] == (*expected)["openapi"]);
  for (const runtime::Member& path : (*expected)["paths"].members()) {
    CAPTURE(path.key);
    CHECK((*actual)["paths"][path.key] == path.value);
  }
  CHECK((*actual)["paths"].size() == (*expected)["paths"].size());
  for (const runtime::Member& schema : (*expected)["components"]["schemas"].members()) {
    CAPTURE(schema.key);
    CHECK((*actual)["components"]["schemas"][schema.key] == schema.value);
  }
  CHECK((*actual)["components"]["securitySchemes"] == (*expected)["components"]["securitySchemes"]);
}

TEST_CASE("openapi: what v3 says otherwise than v2 is rewritten", "[openapi]") {
  // TestV2APIService of openapiv3/aggregator/aggregator_test.go.
  CHECK(Converted(R"({"swagger":"2.0","info":{"title":"Kubernetes","version":"unversioned"}})") ==
        R"({"openapi":"3.0.0","info":{"title":"Kubernetes","version":"unversioned"},)"
        R"("components":{}})");
  // A reference that has something beside it stands in "allOf", at any depth.
  CHECK(Converted(R"({"paths":{},"definitions":{"A":{"properties":{"b":{"items":{"default":{},
"$ref":"#/definitions/B"}},"c":{"$ref":"#/definitions/B"},"$ref":{"type":"string"}}}}})") ==
        R"({"openapi":"3.0.0","paths":{},"components":{"schemas":{"A":{"properties":{"b":)"
        R"({"items":{"default":{},"allOf":[{"$ref":"#/components/schemas/B"}]}},)"
        R"("c":{"$ref":"#/components/schemas/B"},"$ref":{"type":"string"}}}}}})");
  // A parameter that is referred to is put in place.
  CHECK(Converted(R"({"paths":{"/apis/a.com/v1/x":{"get":{"consumes":["*/*"],"produces":["a/b"],
"parameters":[{"$ref":"#/parameters/p"},{"name":"body","in":"body","schema":{"type":"string"}},
{"$ref":"#/parameters/lost"}],"responses":{"200":{"description":"OK","schema":{}}}}}},
"parameters":{"p":{"name":"q","in":"query","type":"string","uniqueItems":true}}})") ==
        R"({"openapi":"3.0.0","paths":{"/apis/a.com/v1/x":{"get":{"requestBody":{"content":)"
        R"({"*/*":{"schema":{"type":"string"}}}},"parameters":[{"name":"q","in":"query",)"
        R"("schema":{"type":"string","uniqueItems":true}},{"schema":{}}],"responses":{"200":)"
        R"({"description":"OK","content":{"a/b":{"schema":{}}}}}}}},"components":{}})");
}

TEST_CASE("openapi: what is no document of v2 is not converted", "[openapi]") {
  const std::string deep(10000, '[');
  for (const std::string& json :
       {std::string(), std::string("[]"), std::string("{\"paths\":5}"), "{\"paths\":" + deep}) {
    CAPTURE(json.substr(0, 50));
    CHECK_FALSE(openapi::ConvertV2ToV3(json, {"a.com", "v1"}).ok());
  }
}

}  // namespace
}  // namespace convert_test
