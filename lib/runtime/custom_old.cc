#include "runtime/custom_old.h"

#include <vector>

#include "runtime/plain_json.h"

namespace apiserver::v0::runtime {

namespace {

// What `additionalProperties: true` is: values without a schema.
bool IsNoSchema(const Schema& schema) {
  return schema.type == SchemaType::kAny && !schema.preserve_unknown_fields &&
         !schema.has_junctors() && schema.fields().empty() && schema.items() == nullptr;
}

bool SameType(const Value& a, const Value& b) {
  return a.is_list() == b.is_list() && a.is_map() == b.is_map() && a.is_null() == b.is_null();
}

struct Pair {
  const Schema* schema;
  const Value* value;
  const Value* old;
};

// Opens two lists of the same type. False: they differ.
bool OpenLists(const Pair& pair, std::vector<Pair>& pending) {
  const auto items = pair.value->items();
  if (items.size() != pair.old->size()) return false;
  if (pair.schema->list_type != Schema::ListType::kMap) return *pair.value == *pair.old;
  const Schema* const schema = CustomItems(*pair.schema);
  if (schema == nullptr) return items.empty();
  const OldItems old(*pair.schema, *pair.old);
  for (const Value& item : items) {
    const Value* const match = old.Find(item);
    if (match == nullptr) return false;
    pending.push_back({schema, &item, match});
  }
  return true;
}

// The same for maps. A member without schema stands for no other.
bool OpenMaps(const Pair& pair, std::vector<Pair>& pending) {
  if (pair.value->size() != pair.old->size()) return false;
  for (const Member& member : pair.value->members()) {
    bool additional = false;
    const Schema* const schema = CustomMember(*pair.schema, member.key, additional);
    const Value* const match = schema == nullptr ? nullptr : pair.old->Find(member.key);
    if (match == nullptr) return false;
    pending.push_back({schema, &member.value, match});
  }
  return true;
}

}  // namespace

const Schema* CustomMember(const Schema& schema, std::string_view key, bool& additional) {
  const Field* const field = schema.FindField(key);
  additional = field == nullptr;
  if (field != nullptr) return field->schema.get();
  const SchemaPtr& other = schema.type == SchemaType::kMap ? schema.items() : schema.members();
  return other == nullptr || IsNoSchema(*other) ? nullptr : other.get();
}

const Schema* CustomItems(const Schema& schema) {
  return schema.type == SchemaType::kMap ? nullptr : schema.items().get();
}

OldItems::OldItems(const Schema& list, const Value& old) : list_(list) {
  std::string key;
  for (const Value& item : old.items()) {
    if (KeyOf(item, key)) items_.try_emplace(key, &item);
  }
}

const Value* OldItems::Find(const Value& item) const {
  std::string key;
  if (!KeyOf(item, key)) return nullptr;
  const auto found = items_.find(key);
  return found == items_.end() ? nullptr : found->second;
}

bool OldItems::KeyOf(const Value& item, std::string& key) const {
  key.clear();
  if (!item.is_map()) return false;
  for (const std::string_view name : list_.list_map_keys()) {
    const Value* const value = item.Find(name);
    if (value == nullptr || value->is_null() || value->is_map() || value->is_list()) return false;
    // 1 and 1.0 are different keys.
    key += static_cast<char>('a' + static_cast<int>(value->type()));
    key.append(PlainJson(*value)).push_back('\0');
  }
  return true;
}

bool SameAsOld(const Schema& schema, const Value& value, const Value& old, std::size_t& steps) {
  std::vector<Pair> pending = {{&schema, &value, &old}};
  while (!pending.empty()) {
    const Pair pair = pending.back();
    pending.pop_back();
    steps += 1 + pair.value->size();
    if (!SameType(*pair.value, *pair.old)) return false;
    if (pair.value->is_list()) {
      if (!OpenLists(pair, pending)) return false;
    } else if (pair.value->is_map()) {
      if (!OpenMaps(pair, pending)) return false;
    } else if (!(*pair.value == *pair.old)) {
      return false;
    }
  }
  return true;
}

}  // namespace apiserver::v0::runtime
