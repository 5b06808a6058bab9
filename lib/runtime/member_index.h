#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::runtime {

// Finds many members of one map: linear for small maps, a sorted index for large ones. Borrows the
// map's members.
class MemberIndex {
 public:
  explicit MemberIndex(std::span<const Member> members);

  // Null when there is no such key.
  const Value* Find(std::string_view key) const;

 private:
  std::span<const Member> members_;
  std::vector<const Member*> sorted_;  // Empty for a small map.
};

}  // namespace apiserver::inline v0::runtime
