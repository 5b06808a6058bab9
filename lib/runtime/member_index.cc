#include "runtime/member_index.h"

#include <algorithm>

namespace apiserver::v0::runtime {

namespace {
// Up to this many members are searched one by one: sorting them would be work for little.
constexpr std::size_t kLinearMax = 24;
}  // namespace

MemberIndex::MemberIndex(std::span<const Member> members) : members_(members) {
  if (members.size() <= kLinearMax) return;
  sorted_.reserve(members.size());
  for (const Member& member : members) sorted_.push_back(&member);
  std::sort(sorted_.begin(), sorted_.end(),
            [](const Member* a, const Member* b) { return a->key < b->key; });
}

const Value* MemberIndex::Find(std::string_view key) const {
  if (sorted_.empty()) {
    for (const Member& member : members_) {
      if (member.key == key) return &member.value;
    }
    return nullptr;
  }
  const auto at =
      std::lower_bound(sorted_.begin(), sorted_.end(), key,
                       [](const Member* member, std::string_view k) { return member->key < k; });
  return at != sorted_.end() && (*at)->key == key ? &(*at)->value : nullptr;
}

}  // namespace apiserver::v0::runtime
