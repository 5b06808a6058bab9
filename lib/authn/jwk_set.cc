#include "authn/jwk_set.h"

#include <algorithm>
#include <utility>

#include "apiserver/base/field_path.h"
#include "apiserver/codec/json.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"
#include "base/status_macros.h"
#include "text/base64.h"

namespace apiserver::v0::authn {
namespace {

using runtime::Value;

Status Unusable(std::string why) { return Status(Reason::kInvalid, std::move(why)); }

// Decodes a required member.
Result<std::string> JwkBytes(Value jwk, std::string_view name) {
  const std::string_view text = jwk[name].AsString();
  std::optional<std::string> bytes = text::DecodeBase64Url(text);
  if (text.empty() || !bytes) {
    return Unusable("member " + field::Quote(name) + " is absent or not base64url");
  }
  return *std::move(bytes);
}

// Go and others write numbers without leading zeros, against RFC 7518.
Result<std::string> Coordinate(Value jwk, std::string_view name, std::size_t size) {
  ASSIGN_OR_RETURN(std::string bytes, JwkBytes(jwk, name));
  if (bytes.size() < size) bytes.insert(0, size - bytes.size(), '\0');
  return bytes;
}

Result<VerificationKey> EcKey(Value jwk) {
  const std::string_view curve = jwk["crv"].AsString();
  KeyType type = KeyType::kP256;
  std::size_t size = 32;
  if (curve == "P-384") {
    type = KeyType::kP384;
    size = 48;
  } else if (curve == "P-521") {
    type = KeyType::kP521;
    size = 66;
  } else if (curve != "P-256") {
    return Unusable("the curve is none of P-256, P-384, P-521");
  }
  ASSIGN_OR_RETURN(const std::string x, Coordinate(jwk, "x", size));
  ASSIGN_OR_RETURN(const std::string y, Coordinate(jwk, "y", size));
  return VerificationKey::Ec(type, x, y);
}

Result<VerificationKey> KeyOf(Value jwk) {
  const std::string_view type = jwk["kty"].AsString();
  if (type == "RSA") {
    ASSIGN_OR_RETURN(const std::string modulus, JwkBytes(jwk, "n"));
    ASSIGN_OR_RETURN(const std::string exponent, JwkBytes(jwk, "e"));
    return VerificationKey::Rsa(modulus, exponent);
  }
  if (type == "EC") return EcKey(jwk);
  if (type == "OKP" && jwk["crv"].AsString() == "Ed25519") {
    ASSIGN_OR_RETURN(const std::string bytes, JwkBytes(jwk, "x"));
    return VerificationKey::Ed25519(bytes);
  }
  return Unusable("the key is none of RSA, EC, Ed25519");
}

// RFC 7517 §4.2 and §4.3: both members are optional, and each can exclude verification.
bool MayVerify(Value jwk) {
  if (jwk.Find("use") != nullptr && jwk["use"].AsString() != "sig") return false;
  const Value* const operations = jwk.Find("key_ops");
  if (operations == nullptr) return true;
  return std::ranges::any_of(operations->items(),
                             [](Value one) { return one.AsString() == "verify"; });
}

Result<Jwk> ReadJwk(Value value) {
  if (!value.is_map()) return Unusable("not an object");
  if (!MayVerify(value)) return Unusable("it is not for signatures");
  std::optional<SigningAlgorithm> algorithm;
  if (value.Find("alg") != nullptr) {
    algorithm = ParseSigningAlgorithm(value["alg"].AsString());
    if (!algorithm) return Unusable("it is for another algorithm");
  }
  ASSIGN_OR_RETURN(VerificationKey key, KeyOf(value));
  if (algorithm && !key.Fits(*algorithm)) return Unusable("its algorithm is of another type");
  return Jwk{std::move(key), std::string(value["kid"].AsString()), algorithm};
}

}  // namespace

Result<JwkSet> ParseJwkSet(std::string_view json) {
  runtime::Arena arena;
  codec::JsonLimits limits;
  limits.bytes_max = kJwkSetBytesMax;
  // Keys are flat objects in a list; deeper documents only cost memory.
  limits.depth_max = 16;
  auto root = codec::ParseJson(json, arena, nullptr, limits);
  if (!root.ok()) return Unusable("key set: " + std::string(root.status().message()));
  const Value keys = (*root)["keys"];
  if (!keys.is_list()) return Unusable("key set: no list \"keys\"");
  if (keys.size() > kJwkSetKeysMax) {
    return Unusable("key set: more than " + std::to_string(kJwkSetKeysMax) + " keys");
  }
  // A key that cannot be used does not spoil the others: issuers add types that this server does
  // not know.
  JwkSet set;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Result<Jwk> one = ReadJwk(keys.at(i));
    if (one.ok()) {
      set.keys.push_back(*std::move(one));
    } else {
      set.skipped.push_back("keys[" + std::to_string(i) +
                            "]: " + std::string(one.status().message()));
    }
  }
  if (!set.keys.empty()) return set;
  return Unusable("key set: no key that can be used" +
                  (set.skipped.empty() ? "" : ": " + set.skipped.front()));
}

}  // namespace apiserver::v0::authn
