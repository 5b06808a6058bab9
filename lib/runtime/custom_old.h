#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "apiserver/runtime/schema.h"

// The values of an object that those of its replacement stand for: CorrelatedObject in apiserver's
// pkg/cel/common.
namespace apiserver::inline v0::runtime {

// Returns the schema of a member. Null: it has none. `additional` says if it is no property.
const Schema* CustomMember(const Schema& schema, std::string_view key, bool& additional);
// Returns the schema of a list's items. Null: there is none.
const Schema* CustomItems(const Schema& schema);

// The items of an old list map by their keys. Those of another list have no match.
class OldItems {
 public:
  OldItems(const Schema& list, const Value& old);
  // Returns the old item with the keys of `item`. Null: there is none.
  const Value* Find(const Value& item) const;

 private:
  // Returns false if the item has not all keys, as scalars.
  bool KeyOf(const Value& item, std::string& key) const;

  const Schema& list_;
  std::unordered_map<std::string, const Value*> items_;
};

// Tells if a value equals the old one that it stands for. Items of list maps are compared by key,
// whatever their order. Adds what was looked at to `steps`.
bool SameAsOld(const Schema& schema, const Value& value, const Value& old, std::size_t& steps);

}  // namespace apiserver::inline v0::runtime
