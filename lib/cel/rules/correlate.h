#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apiserver/runtime/schema_node.h"
#include "apiserver/runtime/value.h"

// Old values beside the new ones: equality.go and maplist.go of k8s.io/apiserver/pkg/cel/common.
namespace apiserver::inline v0::cel {

// The items of an old list of type map, found by their keys. Borrows all that it is given.
class OldItems {
 public:
  OldItems(std::span<const std::string_view> keys, std::span<const runtime::Value> items)
      : keys_(keys), items_(items) {}

  // Returns the first old item with the keys of `item`. Null: there is none, or a key of `item` is
  // missing or no scalar.
  const runtime::Value* Find(const runtime::Value& item);

 private:
  bool SameKeys(const runtime::Value& a, const runtime::Value& b) const;
  bool WriteKey(const runtime::Value& item, std::string& key) const;
  const runtime::Value* FindIndexed(const runtime::Value& item);

  std::span<const std::string_view> keys_;
  std::span<const runtime::Value> items_;
  // Made for long lists alone.
  std::unordered_map<std::string, const runtime::Value*> index_;
};

// Tells if an update left a value as it was. Items of lists of type map are compared by their keys,
// in any order; members that the schema does not declare count as changed.
bool SameAsOld(const runtime::Value& value, const runtime::Value& old,
               const runtime::Schema& schema);

}  // namespace apiserver::inline v0::cel
