#include <cstddef>
#include <cstdint>
#include <string_view>

#include "authn/jwk_set.h"
#include "require.h"

// A key set is refused with a reason, or its keys say the same when they are written again.
namespace {

namespace authn = apiserver::authn;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto set = authn::ParseJwkSet(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!set.ok()) {
    Require(set.status().reason() == apiserver::Reason::kInvalid);
    Require(!set.status().message().empty());
    return 0;
  }
  Require(!set->keys.empty());
  for (const authn::Jwk& one : set->keys) {
    const authn::VerificationKey::Jwk jwk = one.key.ToJwk();
    const auto again = authn::ParseJwkSet(R"({"keys":[{"kty":")" + jwk.kty + R"(","crv":")" +
                                          jwk.crv + R"(","x":")" + jwk.x + R"(","y":")" + jwk.y +
                                          R"(","n":")" + jwk.n + R"(","e":")" + jwk.e + R"("}]})");
    Require(again.ok());
    Require(again->keys.front().key.KeyId() == one.key.KeyId());
    Require(!one.algorithm || one.key.Fits(*one.algorithm));
  }
  return 0;
}
