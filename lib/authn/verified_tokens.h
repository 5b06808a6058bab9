#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "apiserver/base/sync.h"
#include "authn/jwk_set.h"
#include "authn/jwt.h"

namespace apiserver::inline v0::authn {

// Tokens whose signature was verified. A signature holds for good, so a token that a client sends
// with each request is verified once; its claims are checked each time, since they say until when
// and with what it is valid. Holds at least the last `entries_max` / 2 tokens, and none of them as
// text: the caller hashes them (TokenHasher). Any thread.
class VerifiedTokens {
 public:
  // The keys that have verified tokens, compared by address.
  using Keys = std::shared_ptr<const std::vector<Jwk>>;

  explicit VerifiedTokens(std::size_t entries_max) : generation_max_(entries_max / 2) {}

  // Returns the token with this hash. Null: `keys` are not known to have verified it.
  std::shared_ptr<const Jwt> Find(const Keys& keys, const std::string& hash);
  // Remembers a token that `keys` have verified, without those of other keys. `token` borrows
  // nothing but from its own arena.
  void Store(const Keys& keys, const std::string& hash, std::shared_ptr<const Jwt> token);

 private:
  using Generation = std::unordered_map<std::string, std::shared_ptr<const Jwt>>;
  // Two generations: what is not used while the newer one fills goes with the older one.
  struct State {
    Keys keys;
    Generation newer;
    Generation older;
  };

  void Add(State& state, const std::string& hash, std::shared_ptr<const Jwt> token) const;

  const std::size_t generation_max_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::authn
