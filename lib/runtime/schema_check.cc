#include <algorithm>
#include <initializer_list>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "runtime/patterns.h"
#include "runtime/schema_check.h"

namespace apiserver::v0::runtime {

namespace {

bool OneOf(SchemaType type, std::initializer_list<SchemaType> types) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Returns OpenAPI's names of the constraints that do not apply to values of `schema`: in C++ they
// are a mistake, probably meant for another field. Text may stand for every type that JSON writes
// as one.
std::vector<std::string_view> Idle(const Schema& schema) {
  using enum SchemaType;
  const ConstraintsView limits = schema.constraints();
  const bool number = OneOf(schema.type, {kAny, kInteger, kNumber, kIntOrString});
  const bool text = !OneOf(schema.type, {kBoolean, kInteger, kNumber, kStruct, kMap, kList});
  const bool list = OneOf(schema.type, {kAny, kList});
  const bool map = OneOf(schema.type, {kAny, kRaw, kStruct, kMap});
  std::vector<std::string_view> idle;
  const auto check = [&idle](bool set, bool fits, std::string_view name) {
    if (set && !fits) idle.push_back(name);
  };
  check(limits.minimum().has_value(), number, "minimum");
  check(limits.maximum().has_value(), number, "maximum");
  check(limits.exclusive_minimum(), limits.minimum().has_value(), "exclusiveMinimum");
  check(limits.exclusive_maximum(), limits.maximum().has_value(), "exclusiveMaximum");
  check(limits.multiple_of().has_value(), number, "multipleOf");
  check(limits.min_length().has_value(), text, "minLength");
  check(limits.max_length().has_value(), text, "maxLength");
  check(!limits.pattern().empty(), text, "pattern");
  check(limits.min_items().has_value(), list, "minItems");
  check(limits.max_items().has_value(), list, "maxItems");
  check(limits.unique_items(), list, "uniqueItems");
  check(limits.min_properties().has_value(), map, "minProperties");
  check(limits.max_properties().has_value(), map, "maxProperties");
  return idle;
}

class Checker {
 public:
  Checker(Semantics semantics, std::vector<std::string>& problems)
      : semantics_(semantics), problems_(problems) {}

  void Check(const SchemaPtr& root, const std::string& where) {
    Push(root, where);
    while (!pending_.empty()) {
      const auto [schema, path] = std::move(pending_.back());
      pending_.pop_back();
      CheckOne(*schema, path);
    }
  }

 private:
  // A schema that is used in many places is looked at once.
  void Push(const SchemaPtr& schema, const std::string& path) {
    if (schema == nullptr) {
      problems_.push_back(path + ": no schema");
    } else if (seen_.insert(schema.get()).second) {
      pending_.emplace_back(schema.get(), path);
    }
  }

  void CheckOne(const Schema& schema, const std::string& path) {
    if (const Pattern* const pattern = schema.constraints().compiled_pattern()) {
      const std::string why = pattern->Problem();
      if (!why.empty()) problems_.push_back(path + ": invalid pattern: " + why);
    }
    // Kubernetes takes such a CustomResourceDefinition.
    if (semantics_ == Semantics::kGoType) {
      for (const std::string_view name : Idle(schema)) {
        problems_.push_back(path + ": " + std::string(name) + " constrains nothing here");
      }
    }
    if (schema.type == SchemaType::kInteger && schema.bits != 32 && schema.bits != 64) {
      problems_.push_back(path + ": integers have 32 or 64 bits");
    }
    const bool fields = schema.type == SchemaType::kStruct || schema.type == SchemaType::kAny;
    if (fields) CheckFields(schema, path);
    if (schema.members() != nullptr) Push(schema.members(), path + ".*");
    for (const auto& junctor : {schema.all_of(), schema.any_of(), schema.one_of()}) {
      for (const SchemaPtr& part : junctor) Push(part, path);
    }
    if (schema.not_of() != nullptr) Push(schema.not_of(), path);
    if (schema.type == SchemaType::kMap) Push(schema.items(), path + ".*");
    if (schema.type == SchemaType::kList) {
      Push(schema.items(), path + "[]");
      if (schema.items() != nullptr) CheckListKeys(schema, path);
    }
  }

  void CheckFields(const Schema& schema, const std::string& path) {
    std::set<std::string_view> names;
    for (const Field& field : schema.fields()) {
      const std::string field_path = field.inlined ? path : path + "." + std::string(field.name());
      Push(field.schema, field_path);
      if (field.inlined) {
        if (field.schema != nullptr && field.schema->type != SchemaType::kStruct) {
          problems_.push_back(path + ": only a struct can be inlined");
        }
      } else if (field.name().empty()) {
        problems_.push_back(path + ": a field without name");
      } else if (!names.insert(field.name()).second) {
        problems_.push_back(field_path + ": declared twice");
      }
    }
  }

  void CheckListKeys(const Schema& list, const std::string& path) {
    if (list.list_type != Schema::ListType::kMap) return;
    if (list.list_map_keys().empty()) problems_.push_back(path + ": a list map needs keys");
    if (list.items()->type != SchemaType::kStruct) {
      problems_.push_back(path + ": items of a list map must be objects");
      return;
    }
    for (const std::string_view key : list.list_map_keys()) {
      if (list.items()->FindField(key) != nullptr) continue;
      std::string& problem = problems_.emplace_back(path);
      problem.append(": key \"").append(key).append("\" of the list map is no field");
    }
  }

  const Semantics semantics_;
  std::vector<std::string>& problems_;
  std::vector<std::pair<const Schema*, std::string>> pending_;
  std::unordered_set<const Schema*> seen_;
};

}  // namespace

void CheckSchema(const SchemaPtr& schema, Semantics semantics, const std::string& where,
                 std::vector<std::string>& problems) {
  Checker(semantics, problems).Check(schema, where);
}

}  // namespace apiserver::v0::runtime
