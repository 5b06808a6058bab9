#include "apiserver/patch/strategic_merge_patch.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"

#include "codec/text.h"
#include "patch/merge_item.h"

// tests/testdata/strategic_merge_patch/README.md says where the tables come from.
namespace apiserver::inline v0::patch {
namespace {

using codec::testing::Json;
using runtime::Arena;
using runtime::Value;

Value Parse(std::string_view json, Arena& arena) { return codec::ParseJson(json, arena).value(); }

runtime::SchemaPtr PrecisionItemSchema() {
  return runtime::StructBuilder("strategicpatch.PrecisionItem")
      .Field("name", runtime::StringSchema())
      .Field("int32", runtime::IntegerSchema(32))
      .Field("int64", runtime::IntegerSchema(64))
      .Field("float32", runtime::NumberSchema())
      .Field("float64", runtime::NumberSchema())
      .Build();
}

// A file of cases.
class Table {
 public:
  explicit Table(const std::string& name) {
    std::ifstream file(std::string(APISERVER_TESTDATA) + "/strategic_merge_patch/" + name,
                       std::ios::binary);
    REQUIRE(file.good());
    std::stringstream text;
    text << file.rdbuf();
    cases_ = codec::ParseYaml(text.str(), arena_).value();
  }

  std::span<const Value> cases() const { return cases_.items(); }
  static const runtime::Schema& SchemaOf(const Value& each) {
    static const runtime::SchemaPtr kMergeItem = MergeItemSchema();
    static const runtime::SchemaPtr kPrecisionItem = PrecisionItemSchema();
    return each["type"].AsString() == "PrecisionItem" ? *kPrecisionItem : *kMergeItem;
  }

 private:
  Arena arena_;
  Value cases_;
};

// The code of an error of strategicpatch: interpretStrategicMergePatchError of k8s.io/apiserver.
int CodeOf(std::string_view error) {
  if (error == "lists of lists are not supported") return 422;
  return error.starts_with("invalid patch format of ") ? 400 : 500;
}

void CheckCase(const Value& each) {
  INFO(each["test"].AsString() << ": " << each["name"].AsString());
  INFO(Json(each["document"]) << " patched with " << Json(each["patch"]));
  Arena arena;
  const auto merged =
      ApplyStrategicMergePatch(each["document"], each["patch"], Table::SchemaOf(each), arena);
  if (const Value* error = each.Find("error")) {
    REQUIRE_FALSE(merged.ok());
    const int code = CodeOf(error->AsString());
    CHECK(merged.status().code() == code);
    const std::string_view message =
        code == 422 ? "the server rejected our request due to an error in our request"
                    : error->AsString();
    CHECK(merged.status().message() == message);
    return;
  }
  REQUIRE(merged.status() == Status());
  INFO("is " << Json(merged->object));
  CHECK(merged->object == each["result"]);
}

// strategicpatch TestCustomStrategicMergePatch, TestStrategicMergePatch,
// TestReplaceWithRawExtension, TestUnknownField, TestNumberConversion.
TEST_CASE("patch: strategic merge patches of the Go tests give what they give in Go", "[patch]") {
  const Table table("upstream.yaml");
  CHECK(table.cases().size() == 220);
  for (const Value& each : table.cases()) CheckCase(each);
}

TEST_CASE("patch: each directive and mistake of a strategic merge patch does what it does in Go",
          "[patch]") {
  const Table table("recorded.yaml");
  CHECK(table.cases().size() == 376);
  for (const Value& each : table.cases()) CheckCase(each);
}

TEST_CASE("patch: a strategic merge patch leaves document and patch as they were", "[patch]") {
  for (const char* name : {"upstream.yaml", "recorded.yaml"}) {
    const Table table(name);
    for (const Value& each : table.cases()) {
      INFO(each["name"].AsString());
      const std::string before = Json(each);
      Arena arena;
      (void)ApplyStrategicMergePatch(each["document"], each["patch"], Table::SchemaOf(each), arena);
      CHECK(Json(each) == before);
    }
  }
}

// Whether all that `patch` says is an order of elements, or a value that replaces another.
bool OnlyOrders(const Value& patch) {
  return std::all_of(patch.members().begin(), patch.members().end(), [](const auto& member) {
    return member.key.starts_with("$setElementOrder/");
  });
}

TEST_CASE("patch: setting the order of elements twice is setting it once", "[patch]") {
  std::size_t seen = 0;
  for (const char* name : {"upstream.yaml", "recorded.yaml"}) {
    const Table table(name);
    for (const Value& each : table.cases()) {
      if (!OnlyOrders(each["patch"]) || each.Find("error") != nullptr) continue;
      INFO(each["name"].AsString());
      ++seen;
      Arena arena;
      const auto twice =
          ApplyStrategicMergePatch(each["result"], each["patch"], Table::SchemaOf(each), arena);
      REQUIRE(twice.ok());
      CHECK(twice->object == each["result"]);
    }
  }
  CHECK(seen >= 10);
}

TEST_CASE("patch: merging without deletions or order twice is merging once", "[patch]") {
  std::size_t seen = 0;
  const Table table("recorded.yaml");
  for (const Value& each : table.cases()) {
    if (Json(each["patch"]).find('$') != std::string::npos || each.Find("error") != nullptr) {
      continue;
    }
    // A second patch merges what the first one had nothing to merge with.
    const std::string name(each["name"].AsString());
    const bool added_twice =
        name.find("not there: ") != std::string::npos &&
        (name.find("twice") != std::string::npos || name.find("thrice") != std::string::npos);
    if (added_twice || Json(each["patch"]).find("null") != std::string::npos) continue;
    INFO(name);
    Arena arena;
    const auto twice =
        ApplyStrategicMergePatch(each["result"], each["patch"], Table::SchemaOf(each), arena);
    if (!twice.ok()) continue;  // Lists that could be set, but not be merged.
    ++seen;
    CHECK(twice->object == each["result"]);
  }
  CHECK(seen >= 80);
}

struct StrategicRow {
  std::string document;
  std::string patch;
  std::string expected;  // The object, or the message.
};

TEST_CASE("patch: what makes a Go server panic is refused", "[patch]") {
  const StrategicRow rows[] = {
      {R"({"mergingIntList":[1]})", R"({"mergingIntList":[null]})",
       "list element types are not identical: [[1] [<nil>]]"},
      {R"({"mergingList":[{"name":"a"}]})", R"({"mergingList":[{"name":{}}]})",
       "merge key \"name\" of a list element is no scalar"},
      {R"({"mergingList":[{"name":"a"}]})", R"({"mergingList":[{"name":["a"]}]})",
       "merge key \"name\" of a list element is no scalar"},
      {R"({"nonMergingList":[{"name":"a"}]})", R"({"$setElementOrder/nonMergingList":["a"]})",
       "invalid patch format of setElementOrder list"},
      {R"({"nonMergingList":[{"name":"a"}]})",
       R"({"$setElementOrder/nonMergingList":[{"name":"a"}],"nonMergingList":[{"name":"a"}]})",
       "invalid patch format of setElementOrder list"},
      {R"({"mergingIntList":[1]})", R"({"$setElementOrder/mergingIntList":[{"name":1}]})",
       "invalid patch format of setElementOrder list"},
      {R"({"simpleMap":{"a":"b"}})", R"({"simpleMap":{"$retainKeys":[["a"]]}})",
       "invalid patch format of retainKeys"},
  };
  for (const StrategicRow& row : rows) {
    INFO(row.document << " " << row.patch);
    Arena arena;
    const auto merged = ApplyStrategicMergePatch(
        Parse(row.document, arena), Parse(row.patch, arena), *MergeItemSchema(), arena);
    REQUIRE_FALSE(merged.ok());
    CHECK(merged.status().message() == row.expected);
  }
}

TEST_CASE("patch: what is left of a strategic merge patch lacks what was obeyed", "[patch]") {
  const StrategicRow rows[] = {
      {R"({"name":"a"})", R"({"value":"b"})", R"({"value":"b"})"},
      {R"({"mergingIntList":[1]})",
       R"({"$setElementOrder/mergingIntList":[2,1],"mergingIntList":[2],"value":"x"})",
       R"({"value":"x"})"},
      {R"({"simpleMap":{"a":"b"}})", R"({"simpleMap":{"$retainKeys":["c"],"c":"d"}})",
       R"({"simpleMap":{"c":"d"}})"},
      {R"({"simpleMap":{"a":"b"}})", R"({"simpleMap":{"$patch":"replace","c":"d"}})",
       R"({"simpleMap":{"c":"d"}})"},
      {R"({})", R"({"simpleMap":{"a":null,"c":"d"}})", R"({"simpleMap":{"c":"d"}})"},
  };
  for (const StrategicRow& row : rows) {
    INFO(row.document << " " << row.patch);
    Arena arena;
    const auto merged = ApplyStrategicMergePatch(
        Parse(row.document, arena), Parse(row.patch, arena), *MergeItemSchema(), arena);
    REQUIRE(merged.ok());
    CHECK(Json(merged->patch) == row.expected);
  }
}

TEST_CASE("patch: raw JSON and bytes are merged as what they say", "[patch]") {
  Arena arena;
  const runtime::Member members[] = {{"jsonItem", Value::Raw(R"({"a":1,"b":2})")},
                                     {"value", Value::Bytes("hello")}};
  const Value document = Value::Map(members);
  const auto merged = ApplyStrategicMergePatch(
      document, Parse(R"({"jsonItem":{"b":3},"value":"eA=="})", arena), *MergeItemSchema(), arena);
  REQUIRE(merged.ok());
  CHECK(Json(merged->object) == R"({"jsonItem":{"a":1,"b":3},"value":"eA=="})");
}

TEST_CASE("patch: a strategic merge patch must be a map, as its document", "[patch]") {
  Arena arena;
  for (const std::string_view text : {"null", "[]", "1", "\"x\""}) {
    const Value map = Value::Map({});
    for (const auto& [document, patch] :
         {std::pair(map, Parse(text, arena)), std::pair(Parse(text, arena), map)}) {
      const Status status =
          ApplyStrategicMergePatch(document, patch, *MergeItemSchema(), arena).status();
      CHECK(status.reason() == Reason::kBadRequest);
      CHECK(status.message() == "invalid JSON document");
    }
  }
}

std::string Elements(int count, const std::string& each) {
  std::string list = "[";
  for (int i = 0; i < count; ++i) {
    std::string element = each;
    const std::size_t at = element.find('#');
    if (at != std::string::npos) element.replace(at, 1, std::to_string(i));
    list += (i > 0 ? "," : "") + element;
  }
  return list + "]";
}

// What applying takes, in visits.
std::size_t VisitsOf(const std::string& document, const std::string& patch) {
  Arena arena;
  const auto merged = ApplyStrategicMergePatch(Parse(document, arena), Parse(patch, arena),
                                               *MergeItemSchema(), arena);
  REQUIRE(merged.status() == Status());
  return merged->visits;
}

TEST_CASE("patch: ten times as many elements are ten times the work", "[patch]") {
  const std::pair<std::string, std::string> shapes[] = {
      {R"({"name":"#","value":"x"})", "mergingList"},
      {R"({"name":"#","$patch":"delete"})", "mergingList"},
      {"#", "mergingIntList"},
  };
  for (const auto& [element, field] : shapes) {
    for (const std::string directive : {"", "$setElementOrder/", "$deleteFromPrimitiveList/"}) {
      if (field == "mergingList" && directive == "$deleteFromPrimitiveList/") continue;
      INFO(element << " " << directive);
      const auto visits = [&element = element, &field = field, &directive](int count) {
        const std::string plain = field == "mergingList" ? R"({"name":"#"})" : "#";
        return VisitsOf("{\"" + field + "\":" + Elements(count, plain) + "}",
                        "{\"" + directive + field +
                            "\":" + Elements(count, directive.empty() ? element : plain) + "}");
      };
      const std::size_t few = visits(2'000);
      const std::size_t many = visits(20'000);
      CHECK(few < 40'000);
      CHECK(many <= 10 * few + 100);
    }
  }
}

TEST_CASE("patch: merging one long list again and again is refused", "[patch]") {
  const std::string document =
      R"({"mergingList":[{"name":"a","mergingIntList":)" + Elements(50'000, "#") + "}]}";
  const std::string patch =
      R"({"mergingList":)" + Elements(50'000, R"({"name":"a","mergingIntList":[7]})") + "}";
  Arena arena;

  const Status status =
      ApplyStrategicMergePatch(Parse(document, arena), Parse(patch, arena), *MergeItemSchema(),
                               arena, {.visits_max = 1'000'000})
          .status();

  CHECK(status.reason() == Reason::kRequestEntityTooLarge);
  CHECK(status.message() == "Request entity too large: the patch merges the same lists too often");
}

TEST_CASE("patch: strategic merging is deep without recursion", "[patch]") {
  std::string text;
  for (int i = 0; i < 9'990; ++i) text += "{\"mergeItemPtr\":";
  const std::string deep = text + "{\"name\":\"a\",\"value\":null}" + std::string(9'990, '}');
  Arena arena;
  // Nothing to merge with: nulls go at every depth.
  const auto merged =
      ApplyStrategicMergePatch(Value::Map({}), Parse(deep, arena), *MergeItemSchema(), arena);
  REQUIRE(merged.ok());
  CHECK(Json(merged->object) == text + "{\"name\":\"a\"}" + std::string(9'990, '}'));
  // Below the depth that the schema knows there is no struct.
  CHECK(ApplyStrategicMergePatch(Parse(deep, arena), Parse(deep, arena), *MergeItemSchema(), arena)
            .status()
            .message() ==
        "merging an object in json but data type is not struct, instead is: interface");
}

}  // namespace
}  // namespace apiserver::inline v0::patch
