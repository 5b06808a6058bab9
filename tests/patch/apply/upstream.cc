#include "patch/apply/upstream.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>

#include "apiserver/base/file_system.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/schema.h"

namespace apiserver::inline v0::testing {

namespace {

using patch::apply::FieldSet;
using patch::apply::ParseableType;
using patch::apply::PathElement;
using runtime::Arena;
using runtime::Schema;
using runtime::SchemaParts;
using runtime::SchemaPtr;
using runtime::SchemaType;
using runtime::Value;

// Upstream's types refer to each other, and to themselves; a Schema is a tree.
constexpr int kUnrolled = 8;

// Makes a Schema of upstream's notation.
class SchemaLoader {
 public:
  explicit SchemaLoader(Value types) : types_(types) {}

  SchemaPtr Load(Value ref) {
    const std::string name(ref["namedType"].AsString());
    if (name == "__untyped_deduced_") return runtime::AnySchema();
    if (name == "__untyped_atomic_") return runtime::RawExtensionSchema();
    if (name.empty()) return LoadAtom(ref, "in place", ref["elementRelationship"].AsString());
    int& depth = depths_[name];
    if (depth == kUnrolled) return runtime::AnySchema();
    for (const Value& type : types_.items()) {
      if (type["name"].AsString() != name) continue;
      ++depth;
      SchemaPtr schema = LoadAtom(type, name, ref["elementRelationship"].AsString());
      --depth;
      return schema;
    }
    ok_ = false;
    return nullptr;
  }

  bool ok() const { return ok_; }

 private:
  SchemaPtr LoadAtom(Value atom, const std::string& name, std::string_view relationship) {
    const Value map = atom["map"];
    const Value list = atom["list"];
    const std::string_view scalar = atom["scalar"].AsString();
    const int kinds = (map.is_map() ? 1 : 0) + (list.is_map() ? 1 : 0) + (scalar.empty() ? 0 : 1);
    if (kinds == 3 && list["elementRelationship"].AsString() == "atomic") {
      if (relationship.empty()) relationship = map["elementRelationship"].AsString();
      return relationship == "atomic" ? runtime::RawExtensionSchema() : runtime::AnySchema();
    }
    SchemaParts schema;
    schema.name = name;
    if (kinds != 1) {
      ok_ = false;
    } else if (map.is_map()) {
      FillMap(schema, map, relationship);
    } else if (list.is_map()) {
      FillList(schema, list, relationship);
    } else {
      if (name == "in place") schema.name.clear();
      ok_ = ok_ && relationship.empty();
      schema.type = scalar == "numeric"   ? SchemaType::kNumber
                    : scalar == "string"  ? SchemaType::kString
                    : scalar == "boolean" ? SchemaType::kBoolean
                                          : SchemaType::kIntOrString;
    }
    return MakeSchema(schema);
  }

  void FillMap(SchemaParts& schema, Value map, std::string_view relationship) {
    if (relationship.empty()) relationship = map["elementRelationship"].AsString();
    schema.atomic = relationship == "atomic";
    const Value element = map["elementType"];
    if (map["fields"].items().empty()) {
      ok_ = ok_ && element.is_map();
      schema.type = SchemaType::kMap;
      schema.items = Load(element);
      return;
    }
    schema.type = SchemaType::kStruct;
    // A Schema knows nothing of unknown fields; what upstream's types say of them shows in no test.
    schema.preserve_unknown_fields = element.size() != 0;
    for (const Value& field : map["fields"].items()) {
      runtime::FieldParts made;
      made.name = std::string(field["name"].AsString());
      made.schema = Load(field["type"]);
      if (const Value* fallback = field.Find("default")) {
        made.default_value = runtime::OwnedValue(*fallback);
      }
      schema.fields.push_back(std::move(made));
    }
  }

  void FillList(SchemaParts& schema, Value list, std::string_view relationship) {
    if (relationship.empty()) relationship = list["elementRelationship"].AsString();
    schema.type = SchemaType::kList;
    schema.items = Load(list["elementType"]);
    for (const Value& key : list["keys"].items()) {
      schema.list_map_keys.emplace_back(key.AsString());
    }
    if (relationship == "associative") {
      schema.list_type =
          schema.list_map_keys.empty() ? Schema::ListType::kSet : Schema::ListType::kMap;
    }
  }

  Value types_;
  std::map<std::string, int> depths_;
  bool ok_ = true;
};

std::string_view FunctionOf(std::string_view test) { return test.substr(0, test.find('/')); }

}  // namespace

Recording::Recording(std::string_view package) {
  const auto text = RealFileSystem().Read(
      std::string(APISERVER_TESTDATA) + "/structured_merge_diff/" + std::string(package) + ".json");
  REQUIRE(text.ok());
  text_ = *text;
  const auto root = codec::ParseJson(text_, arena_);
  REQUIRE(root.ok());
  root_ = *root;
}

std::size_t Recording::Each(std::string_view function,
                            const std::function<void(const std::string&, Value)>& run) {
  std::size_t tests = 0;
  for (const Value& test : root_["tests"].items()) {
    if (FunctionOf(test["name"].AsString()) != function) continue;
    ++tests;
    for (const Value& step : test["steps"].items()) run(std::string(test["name"].AsString()), step);
  }
  return tests;
}

std::vector<std::string> Recording::Functions() const {
  std::vector<std::string> functions;
  for (const Value& test : root_["tests"].items()) {
    const std::string function(FunctionOf(test["name"].AsString()));
    if (std::find(functions.begin(), functions.end(), function) == functions.end()) {
      functions.push_back(function);
    }
  }
  return functions;
}

const ParseableType* Recording::TypeOf(Value step) {
  return TypeOf(static_cast<std::size_t>(step["schema"].AsInt()), step["type"]);
}

const ParseableType* Recording::TypeNamed(Value step, std::string_view name) {
  runtime::MapBuilder ref(arena_);
  ref.Add("namedType", Value::String(arena_.Copy(name)));
  return TypeOf(static_cast<std::size_t>(step["schema"].AsInt()), ref.Build());
}

const ParseableType* Recording::TypeOf(std::size_t schema, Value ref) {
  const auto [at, added] = types_.try_emplace({schema, JsonOf(ref)});
  if (added) {
    SchemaLoader loader(root_["schemas"].at(schema));
    SchemaPtr loaded = loader.Load(ref);
    if (loader.ok()) at->second = std::make_unique<ParseableType>(std::move(loaded));
  }
  return at->second.get();
}

FieldSet SetIn(Value fields, Arena& arena) {
  const auto set = patch::apply::DecodeFieldsV1(arena.Copy(JsonOf(fields)), arena);
  INFO(JsonOf(fields));
  REQUIRE(set.ok());
  return *set;
}

PathElement ElementOf(std::string_view key, Arena& arena) {
  std::string json = "{";
  codec::AppendJsonString(key, json);
  json += ":{}}";
  const auto set = patch::apply::DecodeFieldsV1(arena.Copy(json), arena);
  INFO(json);
  REQUIRE(set.ok());
  REQUIRE(set->entries().size() == 1);
  return set->entries()[0].element;
}

bool CheckSets(Value step, Arena& arena) {
  const std::string op(step["op"].AsString());
  const auto other = [&] { return SetIn(step["other"], arena); };
  const auto set = [&] { return SetIn(step["set"], arena); };
  FieldSet result;
  if (op == "union") {
    result = set().Union(other(), arena);
  } else if (op == "intersection") {
    result = set().Intersection(other(), arena);
  } else if (op == "difference") {
    result = set().Difference(other(), arena);
  } else if (op == "recursiveDifference") {
    result = set().RecursiveDifference(other(), arena);
  } else if (op == "leaves") {
    result = set().Leaves(arena);
  } else {
    return false;
  }
  CHECK(Encoded(result) == JsonOf(step["result"]));
  return true;
}

std::string Encoded(FieldSet set) {
  std::string out;
  patch::apply::AppendFieldsV1(set, out);
  return out;
}

std::string JsonOf(Value value) {
  std::string out;
  codec::AppendJson(value, out);
  return out;
}

}  // namespace apiserver::inline v0::testing
