#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::groups {

// Edits a map of an object's content: its members are copied by the first change, so that a map
// which is left as it is costs nothing. New members come last; runtime::Settle puts them where the
// schema has them. Texts are borrowed: they are literals, or live in the arena.
class MapEdit {
 public:
  MapEdit(runtime::Value map, runtime::Arena& arena) : map_(map), arena_(arena) {}

  // Returns a member as it is now; null if it is missing.
  runtime::Value operator[](std::string_view key) const {
    if (!changed_) return map_[key];
    const auto found = std::ranges::find(members_, key, &runtime::Member::key);
    return found == members_.end() ? runtime::Value() : found->value;
  }
  runtime::Arena& arena() const { return arena_; }
  bool changed() const { return changed_; }

  void Set(std::string_view key, runtime::Value value) {
    Copy();
    const auto found = std::ranges::find(members_, key, &runtime::Member::key);
    if (found == members_.end()) {
      members_.push_back({key, value});
    } else {
      found->value = value;
    }
  }
  void Erase(std::string_view key) {
    if (map_.Find(key) == nullptr && !changed_) return;
    Copy();
    std::erase_if(members_, [&](const runtime::Member& member) { return member.key == key; });
  }
  // Set a member that Go takes for missing: null, or an empty text or 0, too.
  void Default(std::string_view key, runtime::Value value) {
    if ((*this)[key].is_null()) Set(key, value);
  }
  void DefaultText(std::string_view key, std::string_view text) {
    if ((*this)[key].size() == 0) Set(key, runtime::Value::String(text));
  }
  void DefaultNumber(std::string_view key, std::int64_t number) {
    if ((*this)[key].AsInt() == 0) Set(key, runtime::Value::Int(number));
  }

  // Calls `edit` with a MapEdit of the member `key`, unless it is no map.
  template <class Edit>
  void Member(std::string_view key, Edit edit) {
    const runtime::Value member = (*this)[key];
    if (!member.is_map()) return;
    MapEdit below(member, arena_);
    edit(below);
    if (below.changed()) Set(key, below.Build());
  }
  // Calls `edit` with a MapEdit of each map in the list `key`.
  template <class Edit>
  void Items(std::string_view key, Edit edit) {
    const runtime::Value list = (*this)[key];
    std::vector<runtime::Value> items;
    for (std::size_t i = 0; i < list.items().size(); ++i) {
      MapEdit below(list.items()[i], arena_);
      if (list.items()[i].is_map()) edit(below);
      if (!below.changed()) continue;
      if (items.empty()) items.assign(list.items().begin(), list.items().end());
      items[i] = below.Build();
    }
    if (items.empty()) return;
    runtime::ListBuilder changed(arena_);
    for (const runtime::Value& item : items) changed.Add(item);
    Set(key, changed.Build());
  }

  runtime::Value Build() const {
    if (!changed_) return map_;
    runtime::MapBuilder builder(arena_);
    for (const runtime::Member& member : members_) builder.Add(member.key, member.value);
    return builder.Build();
  }

 private:
  void Copy() {
    if (!changed_) members_.assign(map_.members().begin(), map_.members().end());
    changed_ = true;
  }

  const runtime::Value map_;
  runtime::Arena& arena_;
  bool changed_ = false;
  std::vector<runtime::Member> members_;
};

}  // namespace apiserver::inline v0::groups
