#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include <memory>
#include <utility>

#include "apiserver/http/certificates.h"
#include "base/free_with.h"
#include "base/status_macros.h"
#include "http/asn1_time.h"
#include "http/pem.h"

namespace apiserver::v0::http {
namespace {

using NamesPtr = std::unique_ptr<GENERAL_NAMES, FreeWith<GENERAL_NAMES_free>>;
using TrustPtr = std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>>;
using VerificationPtr = std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>>;

std::string NameText(X509_NAME* name) {
  const std::unique_ptr<BIO, FreeWith<BIO_free_all>> out(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

// The texts are copied with their length: a name with a zero byte must not look like a shorter one.
std::vector<std::string> DnsNames(X509* certificate) {
  std::vector<std::string> found;
  const NamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const ASN1_STRING* text = name->d.dNSName;
    found.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                       static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
  return found;
}

CertificateFacts FactsOf(X509* certificate) {
  return {.subject = NameText(X509_get_subject_name(certificate)),
          .issuer = NameText(X509_get_issuer_name(certificate)),
          .dns_names = DnsNames(certificate),
          .not_before = WallOf(X509_get0_notBefore(certificate)),
          .not_after = WallOf(X509_get0_notAfter(certificate)),
          .authority = X509_check_ca(certificate) == 1};
}

// Verifies the chain of `pem`; `demand` says what the certificate is to be used for.
template <class Demand>
Status Verify(const std::string& pem, const std::string& ca_pem, const Clock& clock,
              const Demand& demand) {
  ASSIGN_OR_RETURN(const std::vector<Certificate> chain, ReadCertificates(pem));
  ASSIGN_OR_RETURN(const std::vector<Certificate> authorities, ReadCertificates(ca_pem));
  const TrustPtr trust(X509_STORE_new());
  for (const Certificate& each : authorities) X509_STORE_add_cert(trust.get(), each.get());
  // The rest of the file helps to build a chain, but is not trusted for that.
  STACK_OF(X509)* between = sk_X509_new_null();
  for (std::size_t i = 1; i < chain.size(); ++i) sk_X509_push(between, chain[i].get());
  const VerificationPtr verification(X509_STORE_CTX_new());
  X509_STORE_CTX_init(verification.get(), trust.get(), chain[0].get(), between);
  X509_VERIFY_PARAM* how = X509_STORE_CTX_get0_param(verification.get());
  X509_VERIFY_PARAM_set_time(how, std::chrono::system_clock::to_time_t(clock.WallNow()));
  demand(how);
  const bool accepted = X509_verify_cert(verification.get()) == 1;
  const int error = X509_STORE_CTX_get_error(verification.get());
  sk_X509_free(between);
  // Left-over errors would be reported for the next call of OpenSSL on this thread.
  ERR_clear_error();
  if (accepted) return {};
  return {Reason::kInvalid, X509_verify_cert_error_string(error)};
}

}  // namespace

Result<std::vector<CertificateFacts>> DescribeCertificates(const std::string& pem) {
  ASSIGN_OR_RETURN(const std::vector<Certificate> certificates, ReadCertificates(pem));
  std::vector<CertificateFacts> facts;
  facts.reserve(certificates.size());
  for (const Certificate& each : certificates) facts.push_back(FactsOf(each.get()));
  return facts;
}

Result<std::vector<CertificateFacts>> DescribeCertificates(const PeerCertificates& shown) {
  std::vector<CertificateFacts> facts;
  for (const std::string& der : shown.der) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
    const Certificate each(d2i_X509(nullptr, &bytes, static_cast<long>(der.size())));
    if (each == nullptr) {
      ERR_clear_error();
      return Status(Reason::kInvalid, "a certificate is malformed");
    }
    facts.push_back(FactsOf(each.get()));
  }
  if (facts.empty()) return Status(Reason::kInvalid, "there is no certificate");
  return facts;
}

Status VerifyServerCertificate(const std::string& pem, const std::string& ca_pem,
                               const std::string& host, const Clock& clock) {
  return Verify(pem, ca_pem, clock, [&host](X509_VERIFY_PARAM* how) {
    X509_VERIFY_PARAM_set_purpose(how, X509_PURPOSE_SSL_SERVER);
    X509_VERIFY_PARAM_set1_host(how, host.data(), host.size());
  });
}

Status VerifyClientCertificate(const std::string& pem, const std::string& ca_pem,
                               const Clock& clock) {
  return Verify(pem, ca_pem, clock, [](X509_VERIFY_PARAM* how) {
    X509_VERIFY_PARAM_set_purpose(how, X509_PURPOSE_SSL_CLIENT);
  });
}

}  // namespace apiserver::v0::http
