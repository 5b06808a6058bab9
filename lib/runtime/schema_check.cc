#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "runtime/facts.h"

namespace apiserver::v0::runtime {

namespace {

class Checker {
 public:
  Checker(Facts& facts, std::vector<std::string>& problems) : facts_(facts), problems_(problems) {}

  void Check(const SchemaPtr& root, const std::string& where, Semantics semantics) {
    Push(root, where);
    while (!pending_.empty()) {
      const auto [schema, path] = std::move(pending_.back());
      pending_.pop_back();
      CheckOne(*schema, path);
    }
    Mark(facts_.with_defaults, &HasDefault);
    Mark(facts_.without_protobuf, &LacksProtobuf);
    if (semantics == Semantics::kStruct) Mark(facts_.limited, &LimitsValues);
  }

 private:
  // Whether the schema has a default value itself.
  static bool HasDefault(const Schema& schema) {
    return std::any_of(schema.fields.begin(), schema.fields.end(),
                       [](const Field& field) { return field.default_value.has_value(); });
  }
  static bool LacksProtobuf(const Schema& schema) {
    if (schema.preserve_unknown_fields) return true;
    if (schema.items != nullptr) {
      const Schema& items = *schema.items;
      const bool message = items.type == SchemaType::kList && items.proto_message;
      return !message && (items.type == SchemaType::kList || items.type == SchemaType::kMap);
    }
    return std::any_of(schema.fields.begin(), schema.fields.end(), [](const Field& field) {
      return field.proto_number == 0 && !field.inlined;
    });
  }
  // Returns whether a value of the right type can be wrong. A field that is always written is never
  // missing.
  static bool LimitsValues(const Schema& schema) {
    const Constraints& limits = schema.constraints;
    if (limits.minimum || limits.maximum || limits.multiple_of || limits.min_length ||
        limits.max_length || limits.min_items || limits.max_items || limits.unique_items ||
        limits.min_properties || limits.max_properties) {
      return true;
    }
    if (!limits.pattern.empty() || !limits.enum_values.empty()) return true;
    if (schema.type == SchemaType::kString && !limits.format.empty()) return true;
    if (schema.type == SchemaType::kInteger && schema.bits == 64 && limits.format == "int32") {
      return true;
    }
    if (schema.list_type != Schema::ListType::kAtomic) return true;
    return std::any_of(schema.fields.begin(), schema.fields.end(), [](const Field& field) {
      return field.required && field.omit != Field::Omit::kNever;
    });
  }
  // Puts into `marked` the schemas for which `holds`, and those they are part of.
  void Mark(std::unordered_set<const Schema*>& marked, bool (*holds)(const Schema&)) {
    const auto is_marked = [&](const SchemaPtr& part) {
      return part != nullptr && marked.contains(part.get());
    };
    const auto concerns = [&](const Schema& schema) {
      return holds(schema) || is_marked(schema.items) ||
             std::any_of(schema.fields.begin(), schema.fields.end(),
                         [&](const Field& field) { return is_marked(field.schema); });
    };
    // From the leaves up. Schemas that share parts may need more than one round.
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = order_.size(); i-- > 0;) {
        if (!marked.contains(order_[i]) && concerns(*order_[i])) {
          again = marked.insert(order_[i]).second;
        }
      }
    }
  }

  // A schema that is used in many places is looked at once.
  void Push(const SchemaPtr& schema, const std::string& path) {
    if (schema == nullptr) {
      problems_.push_back(path + ": no schema");
    } else if (seen_.insert(schema.get()).second) {
      pending_.emplace_back(schema.get(), path);
      order_.push_back(schema.get());
    }
  }

  void CheckOne(const Schema& schema, const std::string& path) {
    if (!schema.constraints.pattern.empty()) {
      const std::string why = facts_.patterns.Add(schema.constraints.pattern);
      if (!why.empty()) problems_.push_back(path + ": invalid pattern: " + why);
    }
    if (schema.type == SchemaType::kInteger && schema.bits != 32 && schema.bits != 64) {
      problems_.push_back(path + ": integers have 32 or 64 bits");
    }
    if (schema.type == SchemaType::kStruct) CheckFields(schema, path);
    if (schema.type == SchemaType::kMap) Push(schema.items, path + ".*");
    if (schema.type == SchemaType::kList) {
      Push(schema.items, path + "[]");
      if (schema.items != nullptr) CheckListKeys(schema, path);
    }
  }

  void CheckFields(const Schema& schema, const std::string& path) {
    std::set<std::string_view> names;
    for (const Field& field : schema.fields) {
      const std::string field_path = field.inlined ? path : path + "." + field.name;
      Push(field.schema, field_path);
      if (field.inlined) {
        if (field.schema != nullptr && field.schema->type != SchemaType::kStruct) {
          problems_.push_back(path + ": only a struct can be inlined");
        }
      } else if (field.name.empty()) {
        problems_.push_back(path + ": a field without name");
      } else if (!names.insert(field.name).second) {
        problems_.push_back(field_path + ": declared twice");
      }
    }
  }

  void CheckListKeys(const Schema& list, const std::string& path) {
    if (list.list_type != Schema::ListType::kMap) return;
    if (list.list_map_keys.empty()) problems_.push_back(path + ": a list map needs keys");
    if (list.items->type != SchemaType::kStruct) {
      problems_.push_back(path + ": items of a list map must be objects");
      return;
    }
    for (const std::string& key : list.list_map_keys) {
      if (list.items->FindField(key) != nullptr) continue;
      std::string& problem = problems_.emplace_back(path);
      problem.append(": key \"").append(key).append("\" of the list map is no field");
    }
  }

  Facts& facts_;
  std::vector<std::string>& problems_;
  std::vector<std::pair<const Schema*, std::string>> pending_;
  std::unordered_set<const Schema*> seen_;
  std::vector<const Schema*> order_;
};

}  // namespace

void CheckSchema(const SchemaPtr& schema, const std::string& where, Semantics semantics,
                 Facts& facts, std::vector<std::string>& problems) {
  Checker(facts, problems).Check(schema, where, semantics);
}

}  // namespace apiserver::v0::runtime
