#include "authz/rbac/decision_cache.h"

#include <functional>

namespace apiserver::v0::authz::rbac {

DecisionKey::DecisionKey(const auth::Attributes& asked)
    : user_(asked.user), unfit_(asked.user.use_count() == 0) {
  text_[size_++] = asked.resource_request ? 'r' : 'p';
  Add(asked.verb);
  if (asked.resource_request) {
    Add(asked.group);
    Add(asked.resource);
    Add(asked.subresource);
    Add(asked.namespace_);
  } else {
    // Grants of the namespace would count here too.
    Add(asked.namespace_);
    Add(asked.path);
  }
  if (unfit_) size_ = 0;
  // Objects lie at multiples of sixteen.
  hash_ = std::hash<std::string_view>()(text()) ^
          (reinterpret_cast<std::uintptr_t>(user_.get()) >> 4U) * 0x9E3779B97F4A7C15U;
  hash_ ^= hash_ >> 32U;
}

// Each part has its size in front, so that two requests never have the same bytes.
void DecisionKey::Add(std::string_view part) {
  if (unfit_ || part.size() + 1 > text_.size() - size_) {
    unfit_ = true;
    return;
  }
  text_[size_++] = static_cast<char>(part.size());
  part.copy(text_.data() + size_, part.size());
  size_ += part.size();
}

// The weak pointer keeps the owner's memory, so that the same owner and address are the same user.
bool DecisionCache::Slot::Is(const DecisionKey& key) const {
  return hash == key.hash() && address == key.user().get() && text == key.text() &&
         !user.owner_before(key.user()) && !key.user().owner_before(user);
}

std::optional<const Grant*> DecisionCache::Find(const DecisionKey& key) const {
  if (key.text().empty()) return std::nullopt;
  const auto slots = shards_[key.hash() % kShards].Lock();
  if (slots->empty()) return std::nullopt;
  const Slot& slot = (*slots)[key.hash() / kShards % kSlotsPerShard];
  if (!slot.Is(key)) return std::nullopt;
  return slot.allowing;
}

void DecisionCache::Add(const DecisionKey& key, const Grant* allowing) const {
  if (key.text().empty()) return;
  const auto slots = shards_[key.hash() % kShards].Lock();
  if (slots->empty()) slots->resize(kSlotsPerShard);
  Slot& slot = (*slots)[key.hash() / kShards % kSlotsPerShard];
  if (slot.candidate != key.hash()) {
    slot.candidate = key.hash();
    return;
  }
  slot.hash = key.hash();
  slot.text = key.text();
  slot.address = key.user().get();
  slot.user = key.user();
  slot.allowing = allowing;
}

}  // namespace apiserver::v0::authz::rbac
