#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "apiserver/cel/value.h"

// Elements of sets and map-lists by what identifies them.
namespace apiserver::inline v0::cel {

// Tells which rules a list has under "==" and "+".
inline runtime::Schema::ListType ListTypeOf(const Value& list) {
  return list.schema() == nullptr ? runtime::Schema::ListType::kAtomic : list.schema()->list_type;
}

// Finds elements of a list of x-kubernetes-list-type set or map by identity: the element itself, or
// its keys. Takes time linear in the list.
class ListKeys {
 public:
  // `schema` is the list's; the elements come by Add().
  ListKeys(const runtime::Schema& schema, Arena& arena);

  // Adds an element and returns the number of the first one with its identity: `number` itself for
  // a new one.
  std::uint32_t Add(const Value& element, std::uint32_t number);
  // Returns the number of the element with the identity of this one. nullopt: there is none.
  std::optional<std::uint32_t> Find(const Value& element);

 private:
  void MakeKey(const Value& element);
  void AppendKey(const Value& value);

  std::vector<std::string_view> properties_;  // Empty for a set.
  Arena& arena_;
  std::string key_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace apiserver::inline v0::cel
