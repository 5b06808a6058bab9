#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/groups/apps.h"
#include "apiserver/groups/core.h"
#include "apiserver/patch/merge_patch.h"
#include "apiserver/patch/strategic_merge_patch.h"

// tests/testdata/strategic_merge_patch/README.md says where the table comes from.
namespace {

namespace codec = apiserver::codec;
namespace groups = apiserver::groups;
namespace patch = apiserver::patch;
namespace runtime = apiserver::runtime;
using runtime::Value;

std::string Print(const Value& value) {
  std::string out;
  codec::AppendJson(value, out);
  return out;
}

runtime::SchemaPtr SchemaOf(std::string_view kind) {
  const auto kinds = kind == "Pod" ? groups::core::Kinds() : groups::apps::Kinds();
  REQUIRE(kinds.ok());
  const auto found =
      std::ranges::find_if(*kinds, [&](const auto& each) { return each->kind() == kind; });
  REQUIRE(found != kinds->end());
  return (*found)->FindVersion("v1")->schema;
}

TEST_CASE("groups: strategic merge patches of a Pod and a Deployment merge as in Go", "[groups]") {
  std::ifstream file(std::string(APISERVER_TESTDATA) + "/strategic_merge_patch/kinds.yaml",
                     std::ios::binary);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  runtime::Arena arena;
  const Value table = codec::ParseYaml(text.str(), arena).value();
  CHECK(table["cases"].size() == 131);
  const runtime::SchemaPtr pod = SchemaOf("Pod");
  const runtime::SchemaPtr deployment = SchemaOf("Deployment");
  for (const Value& each : table["cases"].items()) {
    const std::string_view kind = each["kind"].AsString();
    INFO(kind << " " << each["name"].AsString() << ": " << Print(each["patch"]));
    const Value document = table["documents"][kind];
    const auto merged = patch::ApplyStrategicMergePatch(document, each["patch"],
                                                        kind == "Pod" ? *pod : *deployment, arena);
    if (const Value* error = each.Find("error")) {
      REQUIRE_FALSE(merged.ok());
      CHECK(merged.status().message() == error->AsString());
      continue;
    }
    REQUIRE(merged.ok());
    const Value changes = patch::CreateMergePatch(document, merged->object, arena);
    INFO("changes " << Print(changes));
    INFO("expected " << Print(each["changes"]));
    CHECK(changes == each["changes"]);
  }
}

}  // namespace
