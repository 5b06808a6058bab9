#pragma once  // Library-internal: other rooms include this header.

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/status.h"

// PEM text to OpenSSL objects and back.
namespace apiserver::inline v0::http {

struct X509Free {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Certificate = std::unique_ptr<X509, X509Free>;

struct KeyFree {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using PrivateKey = std::unique_ptr<EVP_PKEY, KeyFree>;

// At least one. kInvalid: none, or not PEM.
Result<std::vector<Certificate>> ReadCertificates(const std::string& pem);
Result<PrivateKey> ReadPrivateKey(const std::string& pem);
std::string WritePem(X509* certificate);
std::string WritePem(EVP_PKEY* key);

}  // namespace apiserver::inline v0::http
