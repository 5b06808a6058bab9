#include "cel/run/member_index.h"

#include <bit>
#include <functional>

#include "cel/run/views.h"

namespace apiserver::inline v0::cel {
namespace {

// Searches of one map before it gets an index, which costs as much as some of them.
constexpr std::uint32_t kSearchesMax = 8;

std::size_t HashOf(std::string_view key) { return std::hash<std::string_view>()(key); }

}  // namespace

const runtime::Value* Arena::MemberIndexes::Find(std::span<const runtime::Member> members,
                                                 std::string_view key, Arena& arena) {
  Index& index = indexes_[members.data()];
  if (index.slots.empty()) {
    if (index.searches++ < kSearchesMax) return cel::FindMember(members, key);
    Build(index, members, arena);
  }
  const std::size_t mask = index.slots.size() - 1;
  for (std::size_t slot = HashOf(key) & mask; index.slots[slot] != 0; slot = (slot + 1) & mask) {
    const runtime::Member& member = members[index.slots[slot] - 1];
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

void Arena::MemberIndexes::Build(Index& index, std::span<const runtime::Member> members,
                                 Arena& arena) {
  index.slots = arena.New<std::uint32_t>(std::bit_ceil(members.size() * 2));
  const std::size_t mask = index.slots.size() - 1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::size_t slot = HashOf(members[i].key) & mask;
    while (index.slots[slot] != 0) slot = (slot + 1) & mask;
    index.slots[slot] = static_cast<std::uint32_t>(i + 1);
  }
}

}  // namespace apiserver::inline v0::cel
