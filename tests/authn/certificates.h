#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/http/message.h"
#include "apiserver/http/tls.h"

// Certificates that http::NewCertificate does not make, and requests that come with them.
namespace apiserver::inline v0::authn {

class FakeClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(); }
  Wall WallNow() const override { return wall; }
  Wall wall = RealClock().WallNow();
};

struct CertificateSpec {
  std::vector<std::pair<std::string, std::string>> subject = {{"CN", "jane"}};
  // Extensions in OpenSSL's words: {"extendedKeyUsage", "clientAuth"}.
  std::vector<std::pair<std::string, std::string>> extensions = {};
  long begins_in_seconds = -3600;
  long ends_in_seconds = 3600;
  std::string ends = {};  // An ASN.1 time to use instead of ends_in_seconds; empty: none.
  int subject_type = MBSTRING_UTF8;
  bool sha1 = false;
};
inline const std::pair<std::string, std::string> kForClients{"extendedKeyUsage", "clientAuth"};
inline const std::pair<std::string, std::string> kAuthority{"basicConstraints", "critical,CA:TRUE"};

template <auto kFree>
struct FreeWith {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using BioPtr = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using X509Ptr = std::unique_ptr<X509, FreeWith<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;

inline BioPtr Reading(const std::string& text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}
inline X509Ptr ReadCertificate(const std::string& pem) {
  return X509Ptr(PEM_read_bio_X509(Reading(pem).get(), nullptr, nullptr, nullptr));
}
inline KeyPtr ReadKey(const std::string& pem) {
  return KeyPtr(PEM_read_bio_PrivateKey(Reading(pem).get(), nullptr, nullptr, nullptr));
}
inline std::string Written(const BioPtr& bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

// A certificate with a key of its own, signed by `issuer`; null: by itself.
inline http::KeyPair MakeCertificate(const CertificateSpec& spec, const http::KeyPair* issuer) {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const X509Ptr authority = issuer ? ReadCertificate(issuer->certificate_pem) : nullptr;
  const KeyPtr authority_key = issuer ? ReadKey(issuer->key_pem) : nullptr;
  const X509Ptr made(X509_new());
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 7);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), spec.begins_in_seconds);
  if (spec.ends.empty()) {
    X509_gmtime_adj(X509_getm_notAfter(made.get()), spec.ends_in_seconds);
  } else {
    REQUIRE(ASN1_TIME_set_string(X509_getm_notAfter(made.get()), spec.ends.c_str()) == 1);
  }
  X509_set_pubkey(made.get(), key.get());
  for (const auto& [type, value] : spec.subject) {
    ASN1_OBJECT* object = OBJ_txt2obj(type.c_str(), 0);
    X509_NAME_add_entry_by_OBJ(X509_get_subject_name(made.get()), object, spec.subject_type,
                               reinterpret_cast<const unsigned char*>(value.data()),
                               static_cast<int>(value.size()), -1, 0);
    ASN1_OBJECT_free(object);
  }
  X509_set_issuer_name(made.get(), X509_get_subject_name(authority ? authority.get() : made.get()));
  for (const auto& [name, value] : spec.extensions) {
    X509_EXTENSION* extension = X509V3_EXT_conf(nullptr, nullptr, const_cast<char*>(name.c_str()),
                                                const_cast<char*>(value.c_str()));
    REQUIRE(extension != nullptr);
    X509_add_ext(made.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(made.get(), authority_key ? authority_key.get() : key.get(),
            spec.sha1 ? EVP_sha1() : EVP_sha256());
  http::KeyPair pair;
  const BioPtr certificate(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate.get(), made.get());
  pair.certificate_pem = Written(certificate);
  const BioPtr private_key(BIO_new(BIO_s_mem()));
  PEM_write_bio_PrivateKey(private_key.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  pair.key_pem = Written(private_key);
  return pair;
}

inline std::string DerOf(const std::string& pem) {
  const X509Ptr certificate = ReadCertificate(pem);
  REQUIRE(certificate != nullptr);
  unsigned char* bytes = nullptr;
  const int size = i2d_X509(certificate.get(), &bytes);
  std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return der;
}

// A request on a new connection whose client has shown these certificates.
inline http::Request From(const std::vector<std::string>& pems) {
  http::PeerCertificates peer;
  for (const std::string& pem : pems) peer.der.push_back(DerOf(pem));
  http::Request request;
  request.tls = true;
  request.peer = std::make_shared<const http::PeerCertificates>(std::move(peer));
  return request;
}

}  // namespace apiserver::inline v0::authn
