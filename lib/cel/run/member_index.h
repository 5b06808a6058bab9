#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>

#include "apiserver/cel/arena.h"

namespace apiserver::inline v0::cel {

// Maps up to this size are searched without an index.
inline constexpr std::size_t kSearchedMembersMax = 32;

// Finds members of large maps of data: the first look-ups search, then a hash index is made in the
// arena. Maps are known by the place of their members.
class Arena::MemberIndexes {
 public:
  const runtime::Value* Find(std::span<const runtime::Member> members, std::string_view key,
                             Arena& arena);

 private:
  struct Index {
    std::uint32_t searches = 0;
    // A power of two slots with 1 + the number of a member, or 0.
    std::span<std::uint32_t> slots = {};
  };
  static void Build(Index& index, std::span<const runtime::Member> members, Arena& arena);

  std::unordered_map<const runtime::Member*, Index> indexes_;
};

}  // namespace apiserver::inline v0::cel
