#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/patch/json_patch.h"
#include "apiserver/patch/merge_patch.h"
#include "codec/text.h"

// tests/testdata/json_patch/README.md says where the tables come from.
namespace apiserver::inline v0::patch {
namespace {

using codec::testing::Json;
using runtime::Arena;
using runtime::Value;

Value ReadTable(const std::string& name, Arena& arena) {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/json_patch/" + name, std::ios::binary);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return codec::ParseYaml(text.str(), arena).value();
}

void CheckResult(const Value& each, const Result<Value>& result) {
  INFO(each["test"].AsString() << ": " << Json(each["document"]));
  INFO("patched with " << Json(each["patch"]));
  if (each.Find("error") != nullptr) {
    REQUIRE_FALSE(result.ok());
    CHECK(result.status().code() == 422);
    return;
  }
  REQUIRE(result.status() == Status());
  INFO("is " << Json(*result));
  if (const Value* expected = each.Find("result")) CHECK(*result == *expected);
  if (const Value* text = each.Find("text")) CHECK(Json(*result) == text->AsString());
}

// jsonpatch TestAllCases, TestAllTest
TEST_CASE("patch: JSON patches of the Go tests give what they give in Go", "[patch]") {
  Arena arena;
  const Value table = ReadTable("json_patch.yaml", arena);
  CHECK(table.size() == 62);
  for (const Value& each : table.items()) {
    const auto copy_bytes_max = static_cast<std::size_t>(each["copy_bytes_max"].AsInt());
    CheckResult(each, ApplyJsonPatch(each["document"], Json(each["patch"]), arena,
                                     {.copy_bytes_max = copy_bytes_max}));
  }
}

// jsonpatch TestMergePatch*
TEST_CASE("patch: merge patches of the Go tests give what they give in Go", "[patch]") {
  Arena arena;
  const Value table = ReadTable("merge_patch.yaml", arena);
  CHECK(table.size() == 20);
  for (const Value& each : table.items()) {
    CheckResult(each, ApplyMergePatch(each["document"], each["patch"], arena));
  }
}

// jsonpatch TestCreateMergePatch*
TEST_CASE("patch: merge patches are made as the Go tests expect", "[patch]") {
  Arena arena;
  const Value table = ReadTable("create_merge_patch.yaml", arena);
  CHECK(table.size() == 13);
  for (const Value& each : table.items()) {
    INFO(each["test"].AsString());
    CHECK(CreateMergePatch(each["original"], each["modified"], arena) == each["patch"]);
  }
}

TEST_CASE("patch: recorded patches give the very text they give in Go", "[patch]") {
  Arena arena;
  const Value table = ReadTable("recorded.yaml", arena);
  CHECK(table.size() == 240);
  for (const Value& each : table.items()) {
    const bool json = each["test"].AsString() == "json";
    CheckResult(each, json ? ApplyJsonPatch(each["document"], Json(each["patch"]), arena)
                           : ApplyMergePatch(each["document"], each["patch"], arena));
  }
}

}  // namespace
}  // namespace apiserver::inline v0::patch
