#include "cel/rules/correlate.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "cel/run/views.h"

namespace apiserver::v0::cel {
namespace {

using runtime::Schema;
using runtime::SchemaType;
using Data = runtime::Value;

// Lists up to this size are searched item by item.
constexpr std::size_t kScannedItemsMax = 16;

bool IsScalar(const Data* value) {
  return value != nullptr &&
         (value->is_string() || value->is_number() || value->type() == Data::Type::kBool);
}

bool IsListMap(const Schema& schema) {
  return schema.type == SchemaType::kList && schema.list_type == Schema::ListType::kMap;
}

// A value, its old value, and the schema of both.
struct Compared {
  const Data* value;
  const Data* old;
  const Schema* schema;
};

// Compares two lists as far as they go, and leaves their items to be compared in `open`.
bool OpenItems(const Compared& list, std::vector<Compared>& open) {
  if (!IsListMap(*list.schema)) return *list.value == *list.old;
  const std::vector<std::string_view> keys = list.schema->list_map_keys();
  OldItems old_items(keys, list.old->items());
  for (const Data& item : list.value->items()) {
    const Data* const old = old_items.Find(item);
    if (old == nullptr) return false;
    open.push_back({&item, old, list.schema->items().get()});
  }
  return true;
}

// The same for two maps.
bool OpenMembers(const Compared& map, std::vector<Compared>& open) {
  for (const runtime::Member& member : map.value->members()) {
    const Data* const old = FindMember(map.old->members(), member.key);
    const Schema* const declared = SchemaOfMember(*map.schema, member.key);
    if (old == nullptr || declared == nullptr) return false;
    open.push_back({&member.value, old, declared});
  }
  return true;
}

}  // namespace

bool OldItems::SameKeys(const Data& a, const Data& b) const {
  return std::all_of(keys_.begin(), keys_.end(), [&](std::string_view key) {
    const Data* const left = a.Find(key);
    const Data* const right = b.Find(key);
    return IsScalar(left) && IsScalar(right) && *left == *right;
  });
}

// Writes a text that only items with the same keys have. False: a key is missing or no scalar.
bool OldItems::WriteKey(const Data& item, std::string& key) const {
  key.clear();
  for (const std::string_view name : keys_) {
    const Data* const value = item.Find(name);
    if (!IsScalar(value)) return false;
    key += static_cast<char>(value->type());
    if (value->is_string()) {
      key += std::to_string(value->size());
      key += ':';
      key += value->AsString();
    } else if (value->type() == Data::Type::kDouble) {
      const auto bytes = std::bit_cast<std::array<char, sizeof(double)>>(value->AsDouble() + 0.0);
      key.append(bytes.data(), bytes.size());
    } else {
      key += std::to_string(value->type() == Data::Type::kBool ? std::int64_t{value->AsBool()}
                                                               : value->AsInt());
      key += ';';
    }
  }
  return true;
}

const Data* OldItems::FindIndexed(const Data& item) {
  std::string key;
  if (index_.empty()) {
    for (const Data& old : items_) {
      if (WriteKey(old, key)) index_.try_emplace(key, &old);
    }
  }
  if (!WriteKey(item, key)) return nullptr;
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : found->second;
}

const Data* OldItems::Find(const Data& item) {
  if (keys_.empty()) return nullptr;
  if (items_.size() > kScannedItemsMax) return FindIndexed(item);
  const auto found = std::find_if(items_.begin(), items_.end(),
                                  [&](const Data& old) { return SameKeys(item, old); });
  return found == items_.end() ? nullptr : &*found;
}

bool SameAsOld(const Data& value, const Data& old, const Schema& schema) {
  std::vector<Compared> open = {{&value, &old, &schema}};
  while (!open.empty()) {
    const Compared next = open.back();
    open.pop_back();
    if (next.value->type() != next.old->type()) return false;
    if (next.value->is_list()) {
      if (next.value->size() != next.old->size() || !OpenItems(next, open)) return false;
    } else if (next.value->is_map()) {
      if (next.value->size() != next.old->size() || !OpenMembers(next, open)) return false;
    } else if (!(*next.value == *next.old)) {
      return false;
    }
  }
  return true;
}

}  // namespace apiserver::v0::cel
