#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "apiserver/cel/arena.h"
#include "runtime/member_index.h"

namespace apiserver::inline v0::cel {

// Maps up to this size are searched without an index.
inline constexpr std::size_t kSearchedMembersMax = 32;

// Finds members of large maps of data: the first look-ups search, then an index is made. Maps are
// known by the place of their members.
class Arena::MemberIndexes {
 public:
  const runtime::Value* Find(std::span<const runtime::Member> members, std::string_view key);

 private:
  struct Index {
    std::uint32_t searches = 0;
    std::optional<runtime::MemberIndex> sorted = std::nullopt;
  };

  std::unordered_map<const runtime::Member*, Index> indexes_;
};

}  // namespace apiserver::inline v0::cel
