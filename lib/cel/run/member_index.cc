#include "cel/run/member_index.h"

#include "cel/run/views.h"

namespace apiserver::v0::cel {
namespace {

// Searches of one map before it gets an index, which costs as much as some of them.
constexpr std::uint32_t kSearchesMax = 8;

}  // namespace

const runtime::Value* Arena::MemberIndexes::Find(std::span<const runtime::Member> members,
                                                 std::string_view key) {
  Index& index = indexes_[members.data()];
  if (!index.sorted && index.searches++ < kSearchesMax) return cel::FindMember(members, key);
  if (!index.sorted) index.sorted.emplace(members);
  return index.sorted->Find(key);
}

}  // namespace apiserver::v0::cel
