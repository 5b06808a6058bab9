// Cases of upstream: tests/testdata/apiextensions/README.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "apiextensions/definitions.h"
#include "apiserver/codec/json.h"

namespace {

using namespace apiserver;
using namespace apiextensions_test;
using Texts = std::vector<std::string>;

std::vector<std::string> LinesOf(const std::string& name) {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/apiextensions/" + name);
  INFO(name);
  REQUIRE(file.good());
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

Texts Sorted(const runtime::Value& list) {
  Texts texts;
  for (const runtime::Value& item : list.items()) texts.emplace_back(item.AsString());
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::string Listed(const Texts& texts) {
  std::string all;
  for (const std::string& text : texts) all += "\n  " + text.substr(0, 1000);
  return all;
}

// Names of cases that cannot be the same, with the reason in the README.
std::set<std::string> Excused() {
  std::set<std::string> names;
  for (const std::string& line : LinesOf("excused.txt")) names.insert(line);
  return names;
}

// ValidateCustomResourceDefinition, ValidateCustomResourceDefinitionUpdate
TEST_CASE("apiextensions: definitions of upstream's table get upstream's errors") {
  const std::set<std::string> excused = Excused();
  std::size_t same = 0;
  for (const std::string& line : LinesOf("validation.jsonl")) {
    runtime::Arena arena;
    const Result<runtime::Value> row = codec::ParseJson(line, arena);
    REQUIRE(row.ok());
    const std::string name((*row)["name"].AsString());
    const Texts expected = Sorted((*row)["errors"]);
    const runtime::Value old = (*row)["old"];
    const Texts found = old.is_null() ? ErrorsOf(JsonOf((*row)["object"]))
                                      : ErrorsOf(JsonOf((*row)["object"]), JsonOf(old));
    INFO(name << "\nexpected:" << Listed(expected) << "\nfound:" << Listed(found));
    const bool equal = found == expected;
    same += equal ? 1 : 0;
    // A case that has become the same is no longer excused.
    CHECK(equal != excused.contains(name));
  }
  CHECK(same >= 219);
}

// The tables of pkg/apiserver/schema/validation_test.go as a grid: each member at each place. And
// what becomes of a definition that is refused, but stored, when another takes its place.
TEST_CASE("apiextensions: each member at each place of a schema gets upstream's errors") {
  const std::string file = GENERATE("structural.jsonl", "updates.jsonl");
  const std::set<std::string> excused = Excused();
  std::size_t rows = 0;
  for (const std::string& line : LinesOf(file)) {
    ++rows;
    runtime::Arena arena;
    const Result<runtime::Value> row = codec::ParseJson(line, arena);
    REQUIRE(row.ok());
    const std::string name((*row)["name"].AsString());
    const Texts expected = Sorted((*row)["errors"]);
    const std::string schema = WithSchema(JsonOf((*row)["schema"]));
    const runtime::Value old = (*row)["old"];
    const Texts found =
        old.is_null() ? ErrorsOf(schema) : UpdateErrorsOf(schema, WithSchema(JsonOf(old)));
    INFO(name << "\nexpected:" << Listed(expected) << "\nfound:" << Listed(found));
    CHECK((found == expected) != excused.contains(name));
  }
  CHECK(rows > 100);
}

}  // namespace
