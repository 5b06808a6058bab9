#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "apiserver/runtime/value.h"

// Questions about values that checks and rewriting ask alike.
namespace apiserver::inline v0::runtime {

inline bool IsText(const Value& value) {
  return value.is_string() || value.type() == Value::Type::kBytes;
}
inline bool IsContainer(const Value& value) { return value.is_map() || value.is_list(); }

// Returns true if both are the same list or map in memory; all empty lists are, and all empty maps.
inline bool IsSameContainer(const Value& a, const Value& b) {
  if (!IsContainer(a) || a.type() != b.type() || a.size() != b.size()) return false;
  if (a.size() == 0) return true;
  return a.is_map() ? a.members().data() == b.members().data()
                    : a.items().data() == b.items().data();
}

// Returns how many code points a text has.
inline std::int64_t CodePoints(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

}  // namespace apiserver::inline v0::runtime
