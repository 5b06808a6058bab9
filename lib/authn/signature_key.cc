#include "authn/signature_key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/free_with.h"
#include "base/status_macros.h"
#include "text/base64.h"

namespace apiserver::v0::authn {
namespace {

// Shorter keys are too weak; longer ones make every verification slow.
constexpr int kRsaBitsMin = 2048;
constexpr int kRsaBitsMax = 8192;
constexpr int kRsaExponentBitsMax = 31;

struct AlgorithmFacts {
  std::string_view name;
  const char* digest;  // Null: the algorithm of the signature has its own hash.
  bool rsa;
  bool pss;
  KeyType curve;
};

// The algorithms in the order of the enumeration.
constexpr std::array<AlgorithmFacts, 10> kAlgorithms = {{
    {"RS256", "SHA256", true, false, KeyType::kRsa},
    {"RS384", "SHA384", true, false, KeyType::kRsa},
    {"RS512", "SHA512", true, false, KeyType::kRsa},
    {"PS256", "SHA256", true, true, KeyType::kRsa},
    {"PS384", "SHA384", true, true, KeyType::kRsa},
    {"PS512", "SHA512", true, true, KeyType::kRsa},
    {"ES256", "SHA256", false, false, KeyType::kP256},
    {"ES384", "SHA384", false, false, KeyType::kP384},
    {"ES512", "SHA512", false, false, KeyType::kP521},
    {"EdDSA", nullptr, false, false, KeyType::kEd25519},
}};

const AlgorithmFacts& FactsOf(SigningAlgorithm algorithm) {
  return kAlgorithms[static_cast<std::size_t>(algorithm)];
}

struct CurveFacts {
  KeyType type;
  const char* group;
  std::string_view name;
  std::size_t bytes;  // The size of a coordinate, and of each half of a signature.
};
constexpr std::array<CurveFacts, 3> kCurves = {{{KeyType::kP256, "prime256v1", "P-256", 32},
                                                {KeyType::kP384, "secp384r1", "P-384", 48},
                                                {KeyType::kP521, "secp521r1", "P-521", 66}}};

const CurveFacts* CurveOf(KeyType type) {
  const auto* found =
      std::ranges::find_if(kCurves, [type](const CurveFacts& curve) { return curve.type == type; });
  return found == kCurves.end() ? nullptr : found;
}

using BigNumber = std::unique_ptr<BIGNUM, FreeWith<BN_free>>;
using EcSignature = std::unique_ptr<ECDSA_SIG, FreeWith<ECDSA_SIG_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreeWith<EVP_MD_CTX_free>>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, FreeWith<EVP_PKEY_CTX_free>>;
using ParamBuilder = std::unique_ptr<OSSL_PARAM_BLD, FreeWith<OSSL_PARAM_BLD_free>>;
using Params = std::unique_ptr<OSSL_PARAM, FreeWith<OSSL_PARAM_free>>;
using PemBio = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using KeyCertificate = std::unique_ptr<X509, FreeWith<X509_free>>;

const unsigned char* BytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* BytesOf(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

Status KeyError(std::string message) {
  // The error queue is the thread's: a stale entry would mislead its next reader.
  ERR_clear_error();
  return Status(Reason::kInvalid, std::move(message));
}

std::shared_ptr<EVP_PKEY> Share(EVP_PKEY* key) { return {key, EVP_PKEY_free}; }

// Null: OpenSSL refuses them.
std::shared_ptr<EVP_PKEY> FromParams(const char* type, OSSL_PARAM_BLD* builder) {
  const Params params(OSSL_PARAM_BLD_to_param(builder));
  const KeyContext context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (params == nullptr || context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, params.get()) != 1) {
    return nullptr;
  }
  return Share(key);
}

// Reads a big-endian unsigned number, as keys and signatures of JOSE carry them (RFC 7518 §2).
BigNumber NumberOf(std::string_view bytes) {
  return BigNumber(BN_bin2bn(BytesOf(bytes), static_cast<int>(bytes.size()), nullptr));
}

BigNumber NumberOf(EVP_PKEY* key, const char* name) {
  BIGNUM* number = nullptr;
  EVP_PKEY_get_bn_param(key, name, &number);
  return BigNumber(number);
}

std::string Base64UrlOf(const BIGNUM* number, std::size_t bytes) {
  std::string text(bytes, '\0');
  BN_bn2binpad(number, BytesOf(text), static_cast<int>(bytes));
  std::string out;
  text::AppendBase64Url(text, out);
  return out;
}

Status CheckRsa(EVP_PKEY* key) {
  const int bits = EVP_PKEY_get_bits(key);
  if (bits < kRsaBitsMin || bits > kRsaBitsMax) {
    return KeyError("an RSA key must have 2048 to 8192 bits, not " + std::to_string(bits));
  }
  const BigNumber exponent = NumberOf(key, OSSL_PKEY_PARAM_RSA_E);
  // Exponents of 1 or even ones are insecure, large ones slow down every verification.
  if (exponent == nullptr || BN_is_odd(exponent.get()) == 0 || BN_is_one(exponent.get()) == 1 ||
      BN_num_bits(exponent.get()) > kRsaExponentBitsMax) {
    return KeyError("the exponent of an RSA key must be odd, 3 to 2^31-1");
  }
  return {};
}

// Returns nullopt for curves that none of the algorithms above uses.
std::optional<KeyType> EcTypeOf(EVP_PKEY* key) {
  std::array<char, 64> group{};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key, group.data(), group.size(), &size) != 1) return std::nullopt;
  for (const CurveFacts& curve : kCurves) {
    if (std::string_view(group.data(), size) == curve.group) return curve.type;
  }
  return std::nullopt;
}

// Converts the two numbers side by side (RFC 7518 §3.4) to the form that OpenSSL reads.
std::optional<std::string> EcSignatureToDer(std::string_view raw, std::size_t half) {
  if (raw.size() != 2 * half) return std::nullopt;
  const EcSignature signature(ECDSA_SIG_new());
  BigNumber r = NumberOf(raw.substr(0, half));
  BigNumber s = NumberOf(raw.substr(half));
  if (ECDSA_SIG_set0(signature.get(), r.get(), s.get()) != 1) return std::nullopt;
  // The signature owns both numbers now.
  static_cast<void>(r.release());
  static_cast<void>(s.release());
  const int size = i2d_ECDSA_SIG(signature.get(), nullptr);
  if (size <= 0) return std::nullopt;
  std::string der(static_cast<std::size_t>(size), '\0');
  unsigned char* at = BytesOf(der);
  i2d_ECDSA_SIG(signature.get(), &at);
  return der;
}

// The inverse of EcSignatureToDer, for tokens that this server signs.
std::optional<std::string> EcSignatureFromDer(std::string_view der, std::size_t half) {
  const unsigned char* at = BytesOf(der);
  const EcSignature signature(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  if (signature == nullptr) return std::nullopt;
  // Both halves are padded with zeros: a shorter number would move the border between them.
  std::string raw(2 * half, '\0');
  const int size = static_cast<int>(half);
  if (BN_bn2binpad(ECDSA_SIG_get0_r(signature.get()), BytesOf(raw), size) != size ||
      BN_bn2binpad(ECDSA_SIG_get0_s(signature.get()), BytesOf(raw) + half, size) != size) {
    return std::nullopt;
  }
  return raw;
}

bool SetPadding(EVP_PKEY_CTX* context, const AlgorithmFacts& facts) {
  if (!facts.rsa) return true;
  if (!facts.pss) return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1;
  return EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
         // RFC 7518 §3.5: the salt is as long as the hash.
         EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1;
}

}  // namespace

std::string_view NameOf(SigningAlgorithm algorithm) { return FactsOf(algorithm).name; }

std::optional<SigningAlgorithm> ParseSigningAlgorithm(std::string_view name) {
  for (std::size_t i = 0; i < kAlgorithms.size(); ++i) {
    if (kAlgorithms[i].name == name) return static_cast<SigningAlgorithm>(i);
  }
  return std::nullopt;
}

Result<VerificationKey> VerificationKey::Rsa(std::string_view modulus, std::string_view exponent) {
  // Longer input is refused before it is converted to a number.
  if (modulus.size() > kRsaBitsMax / CHAR_BIT + 1 || exponent.size() > sizeof(std::uint64_t)) {
    return KeyError("an RSA key must have 2048 to 8192 bits and a short exponent");
  }
  const BigNumber n = NumberOf(modulus);
  const BigNumber e = NumberOf(exponent);
  if (BN_is_odd(n.get()) == 0) return KeyError("the modulus of an RSA key must be odd");
  const ParamBuilder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  return Of(FromParams("RSA", builder.get()));
}

Result<VerificationKey> VerificationKey::Ec(KeyType type, std::string_view x, std::string_view y) {
  const CurveFacts* const curve = CurveOf(type);
  if (curve == nullptr || x.size() != curve->bytes || y.size() != curve->bytes) {
    return KeyError("the coordinates are not as long as the curve wants them");
  }
  std::string point = "\x04";  // The mark of an uncompressed point.
  point.append(x).append(y);
  const ParamBuilder builder(OSSL_PARAM_BLD_new());
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve->group, 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  const std::shared_ptr<EVP_PKEY> key = FromParams("EC", builder.get());
  const KeyContext context(key ? EVP_PKEY_CTX_new(key.get(), nullptr) : nullptr);
  // The full check of NIST SP 800-56A §5.6.2.3.3: on the curve, not infinite, of the right order.
  if (context == nullptr || EVP_PKEY_public_check(context.get()) != 1) {
    return KeyError("the point is not on the curve");
  }
  return Of(key);
}

Result<VerificationKey> VerificationKey::Ed25519(std::string_view bytes) {
  return Of(
      Share(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, BytesOf(bytes), bytes.size())));
}

Result<VerificationKey> VerificationKey::Of(std::shared_ptr<EVP_PKEY> key) {
  if (key == nullptr) return KeyError("the key is malformed");
  switch (EVP_PKEY_get_base_id(key.get())) {
    case EVP_PKEY_RSA:
      RETURN_IF_ERROR(CheckRsa(key.get()));
      return VerificationKey(std::move(key), KeyType::kRsa);
    case EVP_PKEY_EC:
      if (const auto type = EcTypeOf(key.get())) return VerificationKey(std::move(key), *type);
      return KeyError("the curve of an EC key must be P-256, P-384 or P-521");
    case EVP_PKEY_ED25519:
      return VerificationKey(std::move(key), KeyType::kEd25519);
    default:
      return KeyError("a key must be of RSA, EC or Ed25519");
  }
}

bool VerificationKey::Fits(SigningAlgorithm algorithm) const {
  return FactsOf(algorithm).curve == type_;
}

bool VerificationKey::Verify(SigningAlgorithm algorithm, std::string_view input,
                             std::string_view signature) const {
  if (!Fits(algorithm)) return false;
  std::string der;
  if (const CurveFacts* const curve = CurveOf(type_)) {
    std::optional<std::string> converted = EcSignatureToDer(signature, curve->bytes);
    if (!converted) return false;
    der = *std::move(converted);
    signature = der;
  }
  const AlgorithmFacts& facts = FactsOf(algorithm);
  // An EVP_MD_CTX is for one verification, so keys are shared between threads without a lock.
  const DigestContext context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;  // Belongs to `context`.
  const bool verified = EVP_DigestVerifyInit_ex(context.get(), &of_key, facts.digest, nullptr,
                                                nullptr, key_.get(), nullptr) == 1 &&
                        SetPadding(of_key, facts) &&
                        EVP_DigestVerify(context.get(), BytesOf(signature), signature.size(),
                                         BytesOf(input), input.size()) == 1;
  ERR_clear_error();
  return verified;
}

std::string VerificationKey::KeyId() const {
  unsigned char* der = nullptr;
  // The SHA-256 of the SubjectPublicKeyInfo, as keyIDFromPublicKey in pkg/serviceaccount/jwt.go.
  const int size = i2d_PUBKEY(key_.get(), &der);
  if (size <= 0) return "";
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(der, static_cast<std::size_t>(size), BytesOf(digest));
  OPENSSL_free(der);
  std::string id;
  text::AppendBase64Url(digest, id);
  return id;
}

VerificationKey::Jwk VerificationKey::ToJwk() const {
  Jwk jwk;
  if (type_ == KeyType::kRsa) {
    const BigNumber n = NumberOf(key_.get(), OSSL_PKEY_PARAM_RSA_N);
    const BigNumber e = NumberOf(key_.get(), OSSL_PKEY_PARAM_RSA_E);
    jwk.kty = "RSA";
    jwk.n = Base64UrlOf(n.get(), static_cast<std::size_t>(BN_num_bytes(n.get())));
    jwk.e = Base64UrlOf(e.get(), static_cast<std::size_t>(BN_num_bytes(e.get())));
  } else if (const CurveFacts* const curve = CurveOf(type_)) {
    jwk.kty = "EC";
    jwk.crv = curve->name;
    // RFC 7518 §6.2.1.2: a coordinate keeps its leading zeros.
    jwk.x = Base64UrlOf(NumberOf(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X).get(), curve->bytes);
    jwk.y = Base64UrlOf(NumberOf(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y).get(), curve->bytes);
  } else {
    std::string bytes(32, '\0');
    std::size_t size = bytes.size();
    EVP_PKEY_get_raw_public_key(key_.get(), BytesOf(bytes), &size);
    jwk.kty = "OKP";
    jwk.crv = "Ed25519";
    text::AppendBase64Url(bytes, jwk.x);
  }
  return jwk;
}

Result<SigningKey> SigningKey::Of(std::shared_ptr<EVP_PKEY> key) {
  ASSIGN_OR_RETURN(VerificationKey public_key, VerificationKey::Of(key));
  return SigningKey(std::move(key), std::move(public_key));
}

Result<SigningKey> SigningKey::FromPem(const std::string& pem) {
  if (pem.size() > INT_MAX) return KeyError("the file is too large");
  const PemBio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  // Without a callback OpenSSL would ask a terminal for the password.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr);
  if (key == nullptr) return KeyError("the file holds no private key in PEM");
  return Of(Share(key));
}

SigningAlgorithm SigningKey::algorithm() const {
  switch (public_key_.type()) {
    case KeyType::kRsa:
      return SigningAlgorithm::kRs256;
    case KeyType::kP256:
      return SigningAlgorithm::kEs256;
    case KeyType::kP384:
      return SigningAlgorithm::kEs384;
    case KeyType::kP521:
      return SigningAlgorithm::kEs512;
    case KeyType::kEd25519:
      break;
  }
  return SigningAlgorithm::kEdDsa;
}

Result<std::string> SigningKey::Sign(SigningAlgorithm algorithm, std::string_view input) const {
  const Status failed(Reason::kInternalError, "the token could not be signed");
  if (!public_key_.Fits(algorithm)) return failed;
  const AlgorithmFacts& facts = FactsOf(algorithm);
  const DigestContext context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* of_key = nullptr;
  std::size_t size = 0;
  std::string signature;
  const bool ready =
      EVP_DigestSignInit_ex(context.get(), &of_key, facts.digest, nullptr, nullptr, key_.get(),
                            nullptr) == 1 &&
      SetPadding(of_key, facts) &&
      EVP_DigestSign(context.get(), nullptr, &size, BytesOf(input), input.size()) == 1;
  if (ready) signature.resize(size);
  const bool done = ready && EVP_DigestSign(context.get(), BytesOf(signature), &size,
                                            BytesOf(input), input.size()) == 1;
  ERR_clear_error();
  if (!done) return failed;
  signature.resize(size);
  // OpenSSL signs in DER; JOSE wants the two numbers side by side.
  const CurveFacts* const curve = CurveOf(public_key_.type());
  if (curve == nullptr) return signature;
  std::optional<std::string> raw = EcSignatureFromDer(signature, curve->bytes);
  if (!raw) return failed;
  return *std::move(raw);
}

namespace {

// Returns the key of one PEM block. Null: it is of another kind.
std::shared_ptr<EVP_PKEY> KeyOfBlock(std::string_view name, const unsigned char* der, long size) {
  if (name == "CERTIFICATE") {
    const KeyCertificate certificate(d2i_X509(nullptr, &der, size));
    return certificate ? Share(X509_get_pubkey(certificate.get())) : nullptr;
  }
  if (name == "PUBLIC KEY") return Share(d2i_PUBKEY(nullptr, &der, size));
  if (name == "RSA PUBLIC KEY") {
    return Share(d2i_PublicKey(EVP_PKEY_RSA, nullptr, &der, size));
  }
  return Share(d2i_AutoPrivateKey(nullptr, &der, size));
}

// The types of PEM blocks that hold a public key or one to derive it from; others are skipped.
bool HoldsKey(std::string_view name) {
  constexpr std::array<std::string_view, 6> kKinds = {"CERTIFICATE",     "PUBLIC KEY",
                                                      "RSA PUBLIC KEY",  "PRIVATE KEY",
                                                      "RSA PRIVATE KEY", "EC PRIVATE KEY"};
  return std::ranges::find(kKinds, name) != kKinds.end();
}

}  // namespace

Result<std::vector<VerificationKey>> ReadPublicKeys(const std::string& pem) {
  if (pem.size() > INT_MAX) return KeyError("the file is too large");
  const PemBio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  std::vector<VerificationKey> keys;
  char* name = nullptr;
  char* header = nullptr;
  unsigned char* der = nullptr;
  long size = 0;
  while (PEM_read_bio(bio.get(), &name, &header, &der, &size) == 1) {
    const bool holds_key = HoldsKey(name);
    std::shared_ptr<EVP_PKEY> key = holds_key ? KeyOfBlock(name, der, size) : nullptr;
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(der);
    if (!holds_key) continue;
    Result<VerificationKey> one = VerificationKey::Of(std::move(key));
    if (!one.ok()) {
      return KeyError("key " + std::to_string(keys.size() + 1) + ": " +
                      std::string(one.status().message()));
    }
    keys.push_back(*std::move(one));
  }
  // OpenSSL reports the end of the file as a missing block.
  const bool complete = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  if (!complete) return KeyError("the file holds a PEM block that is malformed");
  if (keys.empty()) {
    return KeyError("data does not contain any valid RSA, ECDSA or Ed25519 public keys");
  }
  return keys;
}

}  // namespace apiserver::v0::authn
