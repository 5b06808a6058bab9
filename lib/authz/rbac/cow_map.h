#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::inline v0::authz::rbac {

// A key: a name in a namespace, of one of several sorts. Borrows its texts.
struct Key {
  char sort;
  std::string_view namespace_;
  std::string_view name;

  std::string ToString() const {
    std::string text(1, sort);
    text.append(namespace_).append(1, '/').append(name);  // A namespace has no slash.
    return text;
  }
  // True if ToString() would return `text`.
  bool Is(std::string_view text) const {
    const std::size_t slash = 1 + namespace_.size();
    return text.size() == slash + 1 + name.size() && text[0] == sort && text[slash] == '/' &&
           std::equal(name.begin(), name.end(), text.begin() + slash + 1) &&
           std::equal(namespace_.begin(), namespace_.end(), text.begin() + 1);
  }
  std::uint64_t Hash() const {
    const std::hash<std::string_view> hash;
    return Mix(hash(name) + Mix(hash(namespace_) + static_cast<std::uint64_t>(sort)));
  }

 private:
  static std::uint64_t Mix(std::uint64_t value) {
    value *= 0x9E3779B97F4A7C15U;
    return value ^ (value >> 32U);
  }
};

// A map with cheap copies that do not change: a change copies two short tables of pointers and the
// few entries beside the changed one. Any thread may read; the owner changes.
template <class T>
class CowMap {
 public:
  using Pointer = std::shared_ptr<const T>;

  // Null: there is none.
  const T* Find(const Key& key) const { return FindHashed(key, key.Hash()); }
  // The same, if the caller has key.Hash() already.
  const T* FindHashed(const Key& key, std::uint64_t hash) const {
    const Entry* const entry = FindEntry(key, hash);
    return entry == nullptr ? nullptr : entry->value.get();
  }
  Pointer FindShared(const Key& key) const {
    const Entry* const entry = FindEntry(key, key.Hash());
    return entry == nullptr ? nullptr : entry->value;
  }

  // Sets an entry, or removes it if `value` is null.
  void Set(const Key& key, Pointer value) {
    const std::uint64_t hash = key.Hash();
    auto root = root_ ? std::make_shared<Root>(*root_) : std::make_shared<Root>();
    std::shared_ptr<const Middle>& old_middle = (*root)[RootSlot(hash)];
    auto middle = old_middle ? std::make_shared<Middle>(*old_middle) : std::make_shared<Middle>();
    std::shared_ptr<const Leaf>& old_leaf = (*middle)[MiddleSlot(hash)];
    auto leaf = old_leaf ? std::make_shared<Leaf>(*old_leaf) : std::make_shared<Leaf>();
    std::erase_if(*leaf, [&](const Entry& entry) { return entry.Is(key, hash); });
    if (value) leaf->push_back({hash, key.ToString(), std::move(value)});
    old_leaf = leaf->empty() ? nullptr : std::move(leaf);
    old_middle = std::move(middle);
    root_ = std::move(root);
  }

 private:
  struct Entry {
    std::uint64_t hash;
    std::string key;
    Pointer value;

    bool Is(const Key& wanted, std::uint64_t wanted_hash) const {
      return hash == wanted_hash && wanted.Is(key);
    }
  };
  static constexpr std::size_t kFanOut = 64;
  using Leaf = std::vector<Entry>;
  using Middle = std::array<std::shared_ptr<const Leaf>, kFanOut>;
  using Root = std::array<std::shared_ptr<const Middle>, kFanOut>;

  static std::size_t RootSlot(std::uint64_t hash) { return hash % kFanOut; }
  static std::size_t MiddleSlot(std::uint64_t hash) { return hash / kFanOut % kFanOut; }

  const Entry* FindEntry(const Key& key, std::uint64_t hash) const {
    if (!root_) return nullptr;
    const Middle* const middle = (*root_)[RootSlot(hash)].get();
    if (middle == nullptr) return nullptr;
    const Leaf* const leaf = (*middle)[MiddleSlot(hash)].get();
    if (leaf == nullptr) return nullptr;
    for (const Entry& entry : *leaf) {
      if (entry.Is(key, hash)) return &entry;
    }
    return nullptr;
  }

  std::shared_ptr<const Root> root_;
};

}  // namespace apiserver::inline v0::authz::rbac
