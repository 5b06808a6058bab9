#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "runtime/facts.h"

namespace apiserver::inline v0::runtime {

namespace {

class Checker {
 public:
  Checker(Facts& facts, std::vector<std::string>& problems) : facts_(facts), problems_(problems) {}

  void Check(const SchemaPtr& root, const std::string& where) {
    Push(root, where);
    while (!pending_.empty()) {
      const auto [schema, path] = std::move(pending_.back());
      pending_.pop_back();
      CheckOne(*schema, path);
    }
    MarkDefaults();
  }

 private:
  bool HasDefaults(const Schema& schema) const {
    const auto marked = [this](const SchemaPtr& part) {
      return part != nullptr && facts_.with_defaults.contains(part.get());
    };
    return marked(schema.items) ||
           std::any_of(schema.fields.begin(), schema.fields.end(), [&](const Field& field) {
             return field.default_value.has_value() || marked(field.schema);
           });
  }
  void MarkDefaults() {
    // From the leaves up. Schemas that share parts may need more than one round.
    for (bool again = true; again;) {
      again = false;
      for (std::size_t i = order_.size(); i-- > 0;) {
        if (facts_.with_defaults.contains(order_[i]) || !HasDefaults(*order_[i])) continue;
        facts_.with_defaults.insert(order_[i]);
        again = true;
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

void CheckSchema(const SchemaPtr& schema, const std::string& where, Facts& facts,
                 std::vector<std::string>& problems) {
  Checker(facts, problems).Check(schema, where);
}

}  // namespace apiserver::inline v0::runtime
