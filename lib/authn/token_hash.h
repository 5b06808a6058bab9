#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/random.h"

struct evp_md_st;  // OpenSSL's EVP_MD.

namespace apiserver::inline v0::authn {

// Identifies tokens without holding them: SHA-256 behind a key of its own, so that a cache's memory
// reveals no token, and no client can choose tokens that collide. Any thread.
class TokenHasher {
 public:
  explicit TokenHasher(Random& random);
  // Returns 32 bytes. `audiences` null: the request asks for none.
  std::string Hash(std::string_view token, const std::vector<std::string>* audiences) const;

 private:
  std::array<std::byte, 32> key_;
  std::shared_ptr<evp_md_st> sha256_;  // Looking it up costs as much as hashing a token.
};

}  // namespace apiserver::inline v0::authn
