// The parts of documents that are merged: TestFilterSpecs' neighbours and the digests of
// kube-openapi/pkg/aggregator.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/foreign.h"
#include "openapi/merge.h"

namespace openapi_parts_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using runtime::Value;

Value Json(const char* json, runtime::Arena& arena) {
  return codec::ParseJson(arena.Copy(json), arena).value();
}

std::string Text(Value value) {
  std::string text;
  codec::AppendJson(value, text);
  return text;
}

}  // namespace

TEST_CASE("openapi: equal values have equal digests, in any order of members", "[openapi]") {
  runtime::Arena arena;
  const auto digest = [&arena](const char* json) { return openapi::DigestOf(Json(json, arena)); };
  CHECK(digest(R"({"a":1,"b":{"c":[1,2],"d":null}})") ==
        digest(R"({"b":{"d":null,"c":[1,2]},"a":1})"));
  const std::vector<const char*> different = {
      R"({"a":1})",  R"({"a":2})", R"({"a":"1"})",  R"({"b":1})",    R"({"a":1,"b":1})",
      "{}",          "[]",         "[1,2]",         "[2,1]",         "[[1],2]",
      R"({"a":{}})", "null",       R"({"a":null})", R"({"a":true})", R"(["a","b"])",
      R"(["ab"])"};
  for (std::size_t i = 0; i < different.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      INFO(different[i] << " " << different[j]);
      CHECK(digest(different[i]) != digest(different[j]));
    }
  }
}

TEST_CASE("openapi: the kinds of a definition do not count in its digest", "[openapi]") {
  runtime::Arena arena;
  const auto digest = [&arena](const char* json) {
    return openapi::DigestOfDefinition(Json(json, arena), arena);
  };
  CHECK(digest(R"({"type":"object","x-kubernetes-group-version-kind":[{"kind":"A"}]})") ==
        digest(R"({"type":"object"})"));
  CHECK(digest(R"({"type":"object","x-other":1})") != digest(R"({"type":"object"})"));
}

TEST_CASE("openapi: kinds of two documents are put together", "[openapi]") {
  struct Case {
    const char* first;
    const char* second;
    const char* merged;
  };
  const char* const a = R"({"group":"a","version":"v1","kind":"K"})";
  const char* const b = R"({"group":"b","version":"v1","kind":"K"})";
  const std::string list_a = "[" + std::string(a) + "]";
  const std::string list_b = "[" + std::string(b) + "]";
  const std::string both = "[" + std::string(a) + "," + b + "]";
  const std::string turned = "[" + std::string(b) + "," + a + "]";
  const Case cases[] = {{list_a.c_str(), list_b.c_str(), both.c_str()},
                        {list_b.c_str(), list_a.c_str(), both.c_str()},
                        {list_a.c_str(), list_a.c_str(), list_a.c_str()},
                        // As it is, when nothing comes to it.
                        {turned.c_str(), list_a.c_str(), turned.c_str()},
                        {"null", list_a.c_str(), list_a.c_str()},
                        {list_a.c_str(), "null", list_a.c_str()},
                        {list_a.c_str(), R"(["x",5])", list_a.c_str()},
                        {R"("x")", list_a.c_str(), R"("x")"}};
  for (const Case& test : cases) {
    INFO(test.first << " " << test.second);
    runtime::Arena arena;
    CHECK(Text(openapi::MergedGvks(Json(test.first, arena), Json(test.second, arena), arena)) ==
          test.merged);
  }
}

TEST_CASE("openapi: a group version keeps its paths, and what no other path needs", "[openapi]") {
  runtime::Arena arena;
  const Value document = Json(
      R"({"swagger":"2.0","paths":{"/apis/a.io/v1/x":{"get":{"schema":{"$ref":"#/definitions/A"}}},
          "/apis/a.io/v1beta1/x":{"get":{"schema":{"$ref":"#/definitions/B"}}},
          "/apis/a.io/v1":{},"/api/v1/pods":{"get":{"schema":{"$ref":"#/definitions/P"}}}},
          "definitions":{"A":{"$ref":"#/definitions/Deep"},"Deep":{},"B":{},"P":{},"Idle":{}}})",
      arena);
  struct Case {
    runtime::GroupVersion version;
    std::vector<std::string> paths;
    std::vector<std::string> definitions;
  };
  const Case cases[] = {{{"a.io", "v1"}, {"/apis/a.io/v1/x"}, {"A", "Deep", "Idle"}},
                        {{"a.io", "v1beta1"}, {"/apis/a.io/v1beta1/x"}, {"B", "Idle"}},
                        {{"", "v1"}, {"/api/v1/pods"}, {"Idle", "P"}},
                        {{"b.io", "v1"}, {}, {"Idle"}}};
  for (const Case& test : cases) {
    INFO(test.version.ToString());
    openapi::V2Parts parts(document);
    openapi::KeepVersion(test.version, parts);
    std::vector<std::string> paths;
    for (const auto& path : parts.paths) paths.emplace_back(path.key);
    std::vector<std::string> definitions;
    for (const auto& [name, each] : parts.definitions) definitions.emplace_back(name);
    CHECK(paths == test.paths);
    CHECK(definitions == test.definitions);
  }
}

TEST_CASE("openapi: what is read of another server is a document of v2", "[openapi]") {
  const std::string deep = R"({"swagger":"2.0","paths":{},"definitions":{"A":)" +
                           std::string(500, '[') + std::string(500, ']') + "}}";
  struct Case {
    std::string json;
    Reason reason;
  };
  const Case cases[] = {{"", Reason::kBadRequest},
                        {"{", Reason::kBadRequest},
                        {deep, Reason::kBadRequest},
                        {"[]", Reason::kInvalid},
                        {R"({"paths":[]})", Reason::kInvalid},
                        {R"({"paths":{},"definitions":5})", Reason::kInvalid}};
  for (const Case& test : cases) {
    INFO(test.json.substr(0, 60));
    CHECK(openapi::ReadForeignV2(test.json, {"a.io", "v1"}).status().reason() == test.reason);
  }
  const auto read = openapi::ReadForeignV2(
      R"({"swagger":"2.0","paths":{"/apis/a.io/v1/x":{},"/apis/b.io/v1/y":{}}})", {"a.io", "v1"});
  REQUIRE(read.ok());
  CHECK((*read)->json == R"({"paths":{"/apis/a.io/v1/x":{}},"definitions":{},"parameters":{}})");
  CHECK((*read)->version == runtime::GroupVersion{"a.io", "v1"});
  CHECK_FALSE((*read)->hash.empty());
}

}  // namespace openapi_parts_test
