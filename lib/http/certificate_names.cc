#include "http/certificate_names.h"

#include <openssl/x509v3.h>

#include <memory>

#include "base/status_macros.h"
#include "http/pem.h"

namespace apiserver::v0::http {

Result<std::string> ServerNameFor(const std::string& certificate_pem, const std::string& host) {
  ASSIGN_OR_RETURN(const auto chain, ReadCertificates(certificate_pem));
  X509* certificate = chain.front().get();
  if (X509_check_ip_asc(certificate, host.c_str(), 0) == 1) return std::string();
  const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
      static_cast<GENERAL_NAMES*>(
          X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)),
      GENERAL_NAMES_free);
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_DNS) continue;
    const std::string text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                           static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
    // A wildcard is no name that a client could ask for.
    if (!text.starts_with("*")) return text;
  }
  return Status(Reason::kInvalid, "the certificate is neither for " + host + " nor for a DNS name");
}

}  // namespace apiserver::v0::http
