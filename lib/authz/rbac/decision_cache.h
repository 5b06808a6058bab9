#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::authz::rbac {

struct Grant;

// The parts of a request on which a decision depends, unless a rule has resource names. Borrows the
// user.
class DecisionKey {
 public:
  explicit DecisionKey(const auth::Attributes& asked);

  const auth::UserInfoPtr& user() const { return user_; }
  // The texts as bytes. Empty: the decision cannot be remembered, since they are too long or
  // nothing owns the user.
  std::string_view text() const { return {text_.data(), size_}; }
  std::uint64_t hash() const { return hash_; }

 private:
  void Add(std::string_view part);

  const auth::UserInfoPtr& user_;
  std::array<char, 256> text_;
  std::size_t size_ = 0;
  bool unfit_ = false;
  std::uint64_t hash_ = 0;
};

// Remembers decisions of one snapshot of the policy and goes with it, so that no change needs to
// find what it voids. Holds at most 512 decisions; a newer one takes the place of an older one. A
// user is told by its address, since all requests of one identity share it; a decision does not
// keep its user's texts. Methods may be called from any thread.
class DecisionCache {
 public:
  DecisionCache() = default;
  // Starts empty: a copy of a snapshot is made to be changed.
  DecisionCache(const DecisionCache& /*other*/) : DecisionCache() {}
  DecisionCache& operator=(const DecisionCache&) = delete;
  ~DecisionCache() = default;

  // Returns the grant that allows; null: no grant does. nullopt: it is not known.
  std::optional<const Grant*> Find(const DecisionKey& key) const;
  // Remembers a decision that is made for the second time: users whose credentials are looked up
  // anew each time would only push others out. The snapshot keeps the grant.
  void Add(const DecisionKey& key, const Grant* allowing) const;

 private:
  struct Slot {
    std::uint64_t candidate = 0;  // The hash of a key that was added once.
    std::uint64_t hash = 0;
    std::string text;  // Empty: the slot is not used.
    const auth::UserInfo* address = nullptr;
    std::weak_ptr<const auth::UserInfo> user;
    const Grant* allowing = nullptr;

    bool Is(const DecisionKey& key) const;
  };
  static constexpr std::size_t kShards = 8;
  static constexpr std::size_t kSlotsPerShard = 64;

  // Each is empty until its first decision. There are several, so that loops seldom meet at a lock.
  mutable std::array<Guarded<std::vector<Slot>>, kShards> shards_;
};

}  // namespace apiserver::inline v0::authz::rbac
