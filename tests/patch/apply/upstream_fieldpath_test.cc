#include <catch2/catch.hpp>
#include <string>

#include "apiserver/codec/json.h"
#include "apiserver/patch/apply/field_filter.h"
#include "apiserver/patch/apply/field_set.h"
#include "patch/apply/upstream.h"

// structured-merge-diff/fieldpath: TestPathElementLess, TestPathString, TestPathElementRoundTrip,
// TestDeserializePathElement{Error,Success}, TestSerializeV1*,
// TestDeserializeForValidNonNormalized, TestSetFromJSON*, TestDropUnknown, TestSet*,
// TestEnsureNamedFieldsAreMembers, TestFilterByPattern.
namespace apiserver::inline v0 {
namespace {

using patch::apply::FieldFilter;
using patch::apply::FieldPattern;
using patch::apply::FieldSet;
using patch::apply::Path;
using patch::apply::PathElement;
using runtime::Arena;
using runtime::Value;
using testing::ElementOf;
using testing::Encoded;
using testing::JsonOf;
using testing::SetIn;

Path PathIn(Value keys, Arena& arena) {
  Path path;
  for (const Value& key : keys.items()) path.push_back(ElementOf(key.AsString(), arena));
  return path;
}

// The patterns of a matcher: "*" or pairs of a key (null: any) and a matcher.
void Patterns(Value matcher, const FieldPattern& prefix, std::vector<FieldPattern>& out,
              Arena& arena) {
  if (matcher.is_string()) {
    out.push_back(prefix);
    return;
  }
  for (const Value& member : matcher.items()) {
    FieldPattern longer = prefix;
    const Value key = member.at(0);
    longer.emplace_back(std::nullopt);
    if (!key.is_null()) longer.back() = ElementOf(key.AsString(), arena);
    Patterns(member.at(1), longer, out, arena);
  }
}

void CheckText(Value step, Arena& arena) {
  const std::string op(step["op"].AsString());
  if (op == "fromJSON") {
    const auto set = patch::apply::DecodeFieldsV1(step["text"].AsString(), arena);
    CHECK(set.ok() == !step["error"].is_string());
    if (set.ok()) CHECK(Encoded(*set) == step["result"].AsString());
  } else if (op == "deserialize") {
    std::string json = "{";
    codec::AppendJsonString(step["text"].AsString(), json);
    json += ":{}}";
    const auto set = patch::apply::DecodeFieldsV1(json, arena);
    // A kind of a later time is dropped where upstream's function tells it.
    const bool unknown = step["error"].AsString() == "unknown path element type";
    CHECK(set.ok() == (!step["error"].is_string() || unknown));
    if (unknown) CHECK(set->Empty());
    if (set.ok() && !unknown) {
      REQUIRE(set->entries().size() == 1);
      CHECK(set->entries()[0].element == ElementOf(step["result"].AsString(), arena));
    }
  } else if (op == "toJSON") {
    FieldSet set;
    for (const Value& path : step["paths"].items()) {
      set = set.Insert(PathIn(path, arena), arena);
    }
    CHECK(Encoded(set) == step["result"].AsString());
  }
}

void CheckOne(Value step, Arena& arena) {
  const std::string op(step["op"].AsString());
  if (op == "compareElements") {
    const int order = PathElement::Compare(ElementOf(step["a"].AsString(), arena),
                                           ElementOf(step["b"].AsString(), arena));
    CHECK((order > 0) - (order < 0) == step["result"].AsInt());
  } else if (op == "pathString") {
    CHECK(PathString(PathIn(step["path"], arena)) == step["result"].AsString());
  } else if (op == "has") {
    CHECK(SetIn(step["set"], arena).Has(PathIn(step["path"], arena)) == step["result"].AsBool());
  } else if (op == "equals") {
    CHECK((SetIn(step["set"], arena) == SetIn(step["other"], arena)) == step["result"].AsBool());
  } else if (op == "setString") {
    CHECK(SetIn(step["set"], arena).ToString() == step["result"].AsString());
  } else if (op == "filter") {
    const Value include = step["filter"]["include"];
    std::vector<FieldPattern> patterns;
    if (!include.is_null()) Patterns(include, {}, patterns, arena);
    const FieldFilter filter = include.is_null()
                                   ? FieldFilter::Exclude(SetIn(step["filter"]["exclude"], arena))
                                   : FieldFilter::Include(patterns);
    CHECK(Encoded(filter.Filter(SetIn(step["set"], arena), arena)) == JsonOf(step["result"]));
  } else {
    CheckText(step, arena);
  }
}

TEST_CASE("patch.apply: field sets do what upstream's do", "[patch.apply][upstream]") {
  testing::Recording recording("fieldpath");
  std::size_t tests = 0;
  for (const std::string& function : recording.Functions()) {
    tests += recording.Each(function, [&](const std::string& test, Value step) {
      Arena arena;
      INFO(test << ": " << JsonOf(step).substr(0, 2000));
      if (step["op"].AsString() == "ensureNamed") {
        const auto* const type = recording.TypeOf(step);
        REQUIRE(type != nullptr);
        const FieldSet set = SetIn(step["set"], arena);
        CHECK(Encoded(EnsureNamedFieldsAreMembers(set, type->type(), arena)) ==
              JsonOf(step["result"]));
      } else if (!testing::CheckSets(step, arena)) {
        CheckOne(step, arena);
      }
    });
  }
  CHECK(tests == 251);
}

}  // namespace
}  // namespace apiserver::inline v0
