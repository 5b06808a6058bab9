#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "authn/signing_algorithm.h"

namespace apiserver::inline v0::authn {

// The types of keys. Each has algorithms of its own, so that no key is ever used with another
// type's algorithm.
enum class KeyType : std::uint8_t { kRsa, kP256, kP384, kP521, kEd25519 };

// A public key that verifies signatures. Immutable, cheap to copy, any thread.
class VerificationKey final {
 public:
  // Makes a key from the big-endian bytes of a JWK. kInvalid: no such key; for RSA also a modulus
  // under 2048 or over 8192 bits, or an exponent that is even, under 3 or over 31 bits.
  static Result<VerificationKey> Rsa(std::string_view modulus, std::string_view exponent);
  // The coordinates are as long as the curve's field; the point must be on the curve.
  static Result<VerificationKey> Ec(KeyType type, std::string_view x, std::string_view y);
  static Result<VerificationKey> Ed25519(std::string_view bytes);
  // kInvalid: a key of another type or size.
  static Result<VerificationKey> Of(std::shared_ptr<EVP_PKEY> key);

  KeyType type() const { return type_; }
  bool Fits(SigningAlgorithm algorithm) const;
  // Verifies a signature. False also for an algorithm that does not fit.
  bool Verify(SigningAlgorithm algorithm, std::string_view input, std::string_view signature) const;
  // Returns the id that Kubernetes gives a key: SHA-256 of its PKIX form, base64url.
  std::string KeyId() const;
  // The members kty, crv, x, y, n, e of a JWK; empty if the type lacks them.
  struct Jwk {
    std::string kty, crv, x, y, n, e;
  };
  Jwk ToJwk() const;

 private:
  VerificationKey(std::shared_ptr<EVP_PKEY> key, KeyType type)
      : key_(std::move(key)), type_(type) {}

  std::shared_ptr<EVP_PKEY> key_;
  KeyType type_;
};

// A private key that signs. Immutable, cheap to copy, any thread.
class SigningKey final {
 public:
  static Result<SigningKey> Of(std::shared_ptr<EVP_PKEY> key);
  // Reads PKCS #1, SEC 1 or PKCS #8, not encrypted. kInvalid: another format.
  static Result<SigningKey> FromPem(const std::string& pem);

  const VerificationKey& public_key() const { return public_key_; }
  // The default algorithm of the type: RS256, ES256, ES384, ES512, EdDSA.
  SigningAlgorithm algorithm() const;
  // Signs in the form of RFC 7515. kInternalError: OpenSSL failed, or the algorithm does not fit.
  Result<std::string> Sign(SigningAlgorithm algorithm, std::string_view input) const;

 private:
  SigningKey(std::shared_ptr<EVP_PKEY> key, VerificationKey public_key)
      : key_(std::move(key)), public_key_(std::move(public_key)) {}

  std::shared_ptr<EVP_PKEY> key_;
  VerificationKey public_key_;
};

// Reads the public keys of all certificates, public and private keys of a PEM file, as
// k8s.io/client-go/util/keyutil.ParsePublicKeysPEM; other blocks are skipped. kInvalid: there is
// none, or one that cannot be used.
Result<std::vector<VerificationKey>> ReadPublicKeys(const std::string& pem);

}  // namespace apiserver::inline v0::authn
