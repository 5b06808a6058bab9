#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/random.h"

namespace apiserver::inline v0::authn {

// Identifies tokens without holding them: HMAC-SHA256 under a key of its own, so that a cache's
// memory reveals no token, and no client can choose tokens that collide. Any thread.
class TokenHasher {
 public:
  explicit TokenHasher(Random& random) { random.Fill(key_); }
  // Returns 32 bytes. `audiences` null: the request asks for none.
  std::string Hash(std::string_view token, const std::vector<std::string>* audiences) const;

 private:
  std::array<std::byte, 32> key_;
};

}  // namespace apiserver::inline v0::authn
