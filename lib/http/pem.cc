#include "http/pem.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <utility>

#include "http/tls_context.h"

namespace apiserver::v0::http {
namespace {

struct BioFree {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
using MemoryBio = std::unique_ptr<BIO, BioFree>;

MemoryBio Reader(const std::string& text) {
  return MemoryBio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string Contents(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

// An encrypted key must not make the library ask on the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*argument*/) { return -1; }

}  // namespace

Result<std::vector<Certificate>> ReadCertificates(const std::string& pem) {
  const MemoryBio bio = Reader(pem);
  std::vector<Certificate> chain;
  while (X509* next = PEM_read_bio_X509(bio.get(), nullptr, NoPassword, nullptr)) {
    chain.emplace_back(next);
  }
  // The end of the text is reported as an error of its own.
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  const std::string why = TakeSslError();
  if (chain.empty()) return Status(Reason::kInvalid, "tls: no certificate in PEM text");
  if (!at_end) return Status(Reason::kInvalid, "tls: bad certificate: " + why);
  return chain;
}

Result<PrivateKey> ReadPrivateKey(const std::string& pem) {
  const MemoryBio bio = Reader(pem);
  PrivateKey key(PEM_read_bio_PrivateKey(bio.get(), nullptr, NoPassword, nullptr));
  const std::string why = TakeSslError();
  if (!key)
    return Status(Reason::kInvalid,
                  "tls: bad private key: " + why + "; give one in PEM, without a password");
  return key;
}

std::string WritePem(X509* certificate) {
  const MemoryBio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(bio.get(), certificate);
  return Contents(bio.get());
}

std::string WritePem(EVP_PKEY* key) {
  const MemoryBio bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  return Contents(bio.get());
}

}  // namespace apiserver::v0::http
