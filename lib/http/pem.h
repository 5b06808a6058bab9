#pragma once  // Library-internal: other rooms include this header.

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/status.h"

// Conversions between PEM text and OpenSSL's objects. They never ask for a pass phrase.
namespace apiserver::inline v0::http {

// Deleters for OpenSSL's objects.
struct X509Free {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Certificate = std::unique_ptr<X509, X509Free>;

struct KeyFree {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using PrivateKey = std::unique_ptr<EVP_PKEY, KeyFree>;

// Reads all certificates of a text, at least one. kInvalid: there is none, or it is not PEM.
Result<std::vector<Certificate>> ReadCertificates(const std::string& pem);
// Reads an unencrypted private key. kInvalid: there is none.
Result<PrivateKey> ReadPrivateKey(const std::string& pem);
// Write one object as PEM. Empty: OpenSSL failed.
std::string WritePem(X509* certificate);
std::string WritePem(EVP_PKEY* key);

}  // namespace apiserver::inline v0::http
