#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0::authn {

// A cache of results about shared objects. An entry holds while its object has another owner.
// Looked up by address, so that a hit neither copies nor compares the object.
template <class Key, class Value>
class IdentityCache {
 public:
  explicit IdentityCache(std::size_t entries_max) : entries_max_(entries_max) {}

  std::optional<Value> Find(const std::shared_ptr<const Key>& key) const {
    const auto entries = entries_.Lock();
    const auto found = entries->find(key.get());
    // An expired owner: another object lived at this address.
    if (found == entries->end() || found->second.owner.expired()) return std::nullopt;
    return found->second.value;
  }

  void Store(const std::shared_ptr<const Key>& key, Value value) {
    const auto entries = entries_.Lock();
    if (entries->size() >= sweep_at_) {
      std::erase_if(*entries, [](const auto& entry) { return entry.second.owner.expired(); });
      if (entries->size() >= entries_max_) entries->clear();
      // Twice the number of live entries, so that a sweep pays for itself.
      sweep_at_ = std::min(entries_max_, std::max<std::size_t>(kSweepMin, entries->size() * 2));
    }
    entries->insert_or_assign(key.get(), Entry{key, std::move(value)});
  }

 private:
  struct Entry {
    std::weak_ptr<const Key> owner;
    Value value;
  };
  static constexpr std::size_t kSweepMin = 64;

  const std::size_t entries_max_;
  mutable Guarded<std::unordered_map<const Key*, Entry>> entries_;
  std::size_t sweep_at_ = kSweepMin;  // Guarded by entries_.
};

}  // namespace apiserver::inline v0::authn
