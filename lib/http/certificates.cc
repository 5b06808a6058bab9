#include <openssl/ec.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstddef>
#include <utility>

#include "apiserver/base/random.h"
#include "apiserver/http/tls.h"
#include "base/status_macros.h"
#include "http/pem.h"
#include "http/tls_context.h"

namespace apiserver::v0::http {
namespace {

Status Failed(const std::string& what) {
  return Status(Reason::kInvalid, "tls: " + what + ": " + TakeSslError());
}

Status AddName(X509_NAME* name, const char* field, const std::string& text) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  if (X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8, bytes, static_cast<int>(text.size()),
                                 -1, 0) != 1) {
    return Failed(std::string("bad ") + field + " \"" + text + "\"");
  }
  return Status::Ok();
}

Status AddExtension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str());
  if (extension == nullptr) return Failed("bad extension " + value);
  const int added = X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
  return added == 1 ? Status::Ok() : Failed("extension " + value);
}

// Adds a name to OpenSSL's list. Names come from callers, so that a character which could start
// another entry is refused.
Status AppendAltName(std::string& list, const char* kind, const std::string& name) {
  if (name.empty() || name.find_first_of(",;\r\n") != std::string::npos) {
    return Status(Reason::kInvalid, "tls: bad alternative name \"" + name + "\"");
  }
  if (!list.empty()) list += ",";
  list += std::string(kind) + ":" + name;
  return Status::Ok();
}

// Makes a certificate for `key` with everything but names, extensions and a signature.
Result<Certificate> NewBlank(EVP_PKEY* key, Clock::Wall now, std::chrono::hours valid_for) {
  Certificate made(X509_new());
  if (!made) return Failed("no certificate");
  std::array<std::byte, 16> serial{};
  SecureRandom().Fill(serial);
  serial[0] = (serial[0] & std::byte{0x7f}) | std::byte{0x40};  // Positive, of full length.
  BIGNUM* number = BN_bin2bn(reinterpret_cast<const unsigned char*>(serial.data()),
                             static_cast<int>(serial.size()), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(made.get()));
  BN_free(number);
  // A minute back, for peers whose clock is behind.
  const auto begin = Clock::Wall::clock::to_time_t(now - std::chrono::minutes(1));
  const auto end = Clock::Wall::clock::to_time_t(now + valid_for);
  if (X509_set_version(made.get(), X509_VERSION_3) != 1 ||
      ASN1_TIME_set(X509_getm_notBefore(made.get()), begin) == nullptr ||
      ASN1_TIME_set(X509_getm_notAfter(made.get()), end) == nullptr ||
      X509_set_pubkey(made.get(), key) != 1) {
    return Failed("certificate");
  }
  return made;
}

Result<KeyPair> Sign(X509* certificate, EVP_PKEY* key, EVP_PKEY* signer) {
  if (X509_sign(certificate, signer, EVP_sha256()) <= 0) return Failed("signing");
  return KeyPair{WritePem(certificate), WritePem(key)};
}

Status AddAltNames(X509* certificate, X509* issuer, const CertificateRequest& request) {
  std::string names;
  for (const auto& name : request.dns_names) RETURN_IF_ERROR(AppendAltName(names, "DNS", name));
  for (const auto& ip : request.ip_addresses) RETURN_IF_ERROR(AppendAltName(names, "IP", ip));
  if (names.empty()) return Status::Ok();
  return AddExtension(certificate, issuer, NID_subject_alt_name, names);
}

}  // namespace

// The extensions are those that crypto/x509 looks for in an authority.
Result<KeyPair> NewCertificateAuthority(const std::string& common_name, const Clock& clock,
                                        std::chrono::hours valid_for) {
  const PrivateKey key(EVP_EC_gen("P-256"));
  if (!key) return Failed("no key");
  ASSIGN_OR_RETURN(const Certificate made, NewBlank(key.get(), clock.WallNow(), valid_for));
  X509* ca = made.get();
  RETURN_IF_ERROR(AddName(X509_get_subject_name(ca), "CN", common_name));
  X509_set_issuer_name(ca, X509_get_subject_name(ca));
  RETURN_IF_ERROR(AddExtension(ca, ca, NID_basic_constraints, "critical,CA:TRUE"));
  RETURN_IF_ERROR(
      AddExtension(ca, ca, NID_key_usage, "critical,digitalSignature,keyEncipherment,keyCertSign"));
  RETURN_IF_ERROR(AddExtension(ca, ca, NID_subject_key_identifier, "hash"));
  return Sign(ca, key.get(), key.get());
}

Result<KeyPair> NewCertificate(const KeyPair& authority, const CertificateRequest& request,
                               const Clock& clock) {
  ASSIGN_OR_RETURN(const auto chain, ReadCertificates(authority.certificate_pem));
  ASSIGN_OR_RETURN(const PrivateKey signer, ReadPrivateKey(authority.key_pem));
  X509* ca = chain.front().get();
  // OpenSSL would sign with a wrong key without a word, and clients would find out.
  if (X509_check_private_key(ca, signer.get()) != 1)
    return Failed("authority's key does not match");
  const PrivateKey key(EVP_EC_gen("P-256"));
  if (!key) return Failed("no key");
  ASSIGN_OR_RETURN(const Certificate made, NewBlank(key.get(), clock.WallNow(), request.valid_for));
  X509* leaf = made.get();
  X509_NAME* subject = X509_get_subject_name(leaf);
  for (const auto& name : request.organizations) RETURN_IF_ERROR(AddName(subject, "O", name));
  RETURN_IF_ERROR(AddName(subject, "CN", request.common_name));
  X509_set_issuer_name(leaf, X509_get_subject_name(ca));
  RETURN_IF_ERROR(
      AddExtension(leaf, ca, NID_key_usage, "critical,digitalSignature,keyEncipherment"));
  RETURN_IF_ERROR(
      AddExtension(leaf, ca, NID_ext_key_usage, request.client ? "clientAuth" : "serverAuth"));
  RETURN_IF_ERROR(AddExtension(leaf, ca, NID_basic_constraints, "critical,CA:FALSE"));
  RETURN_IF_ERROR(AddExtension(leaf, ca, NID_authority_key_identifier, "keyid"));
  RETURN_IF_ERROR(AddAltNames(leaf, ca, request));
  return Sign(leaf, key.get(), signer.get());
}

}  // namespace apiserver::v0::http
