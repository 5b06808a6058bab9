#pragma once

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

#include <memory>
#include <string>
#include <string_view>

#include "authn/jwt.h"
#include "text/base64.h"

// Keys of the tests' own, and tokens signed with them.
namespace apiserver::inline v0::authn {

inline SigningKey KeyFrom(EVP_PKEY* key) {
  return SigningKey::Of(std::shared_ptr<EVP_PKEY>(key, EVP_PKEY_free)).value();
}
inline SigningKey NewRsaKey(std::size_t bits = 2048) {
  return KeyFrom(EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", bits));
}
inline SigningKey NewEcKey(const char* curve) {
  return KeyFrom(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", curve));
}
inline SigningKey NewEd25519Key() {
  return KeyFrom(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
}
// Made once a process: RSA keys are slow to find.
inline const SigningKey& RsaKey() {
  static const SigningKey key = NewRsaKey();
  return key;
}
inline const SigningKey& OtherRsaKey() {
  static const SigningKey key = NewRsaKey();
  return key;
}
inline const SigningKey& P256Key() {
  static const SigningKey key = NewEcKey("P-256");
  return key;
}

inline std::string Base64Url(std::string_view bytes) {
  std::string out;
  text::AppendBase64Url(bytes, out);
  return out;
}
// A token of any parts, whatever they are worth.
inline std::string RawToken(std::string_view header, std::string_view payload,
                            std::string_view signature) {
  return Base64Url(header) + "." + Base64Url(payload) + "." + Base64Url(signature);
}
// A token with a header of the test's own, signed by `key`.
inline std::string SignedWithHeader(const SigningKey& key, std::string_view header,
                                    std::string_view payload) {
  const std::string input = Base64Url(header) + "." + Base64Url(payload);
  return input + "." + Base64Url(key.Sign(key.algorithm(), input).value());
}

// As a provider publishes it.
inline std::string JwkText(const VerificationKey& key, std::string_view id,
                           std::string_view more = "") {
  const VerificationKey::Jwk jwk = key.ToJwk();
  std::string text = R"({"kty":")" + jwk.kty + R"(","use":"sig","kid":")" + std::string(id) + '"';
  const auto add = [&text](const char* name, const std::string& value) {
    if (!value.empty()) text += std::string(",\"") + name + "\":\"" + value + '"';
  };
  add("crv", jwk.crv);
  add("x", jwk.x);
  add("y", jwk.y);
  add("n", jwk.n);
  add("e", jwk.e);
  return text + std::string(more) + "}";
}

}  // namespace apiserver::inline v0::authn
