#include "runtime/schema_check.h"

#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace apiserver::inline v0::runtime {

namespace {

class Checker {
 public:
  Checker(Patterns& patterns, std::vector<std::string>& problems)
      : patterns_(patterns), problems_(problems) {}

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
    if (!schema.constraints.pattern.empty()) {
      const std::string why = patterns_.Add(schema.constraints.pattern);
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
      if (list.items->FindField(key) == nullptr) {
        problems_.push_back(path + ": key \"" + key + "\" of the list map is no field");
      }
    }
  }

  Patterns& patterns_;
  std::vector<std::string>& problems_;
  std::vector<std::pair<const Schema*, std::string>> pending_;
  std::unordered_set<const Schema*> seen_;
};

}  // namespace

void CheckSchema(const SchemaPtr& schema, const std::string& where, Patterns& patterns,
                 std::vector<std::string>& problems) {
  Checker(patterns, problems).Check(schema, where);
}

}  // namespace apiserver::inline v0::runtime
