#pragma once

#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"

// What certificates say, for messages to people and for checks before a server starts. What decides
// about clients is in authn.
namespace apiserver::inline v0::http {

struct CertificateFacts {
  std::string subject;  // "CN=front-proxy-ca", RFC 2253.
  std::string issuer;
  std::vector<std::string> dns_names;  // Of the subject alternative names.
  Clock::Wall not_before;
  Clock::Wall not_after;
  bool authority = false;  // May sign others.
};
// Of each certificate in a PEM text, in order. kInvalid: there is none, or one is malformed.
Result<std::vector<CertificateFacts>> DescribeCertificates(const std::string& pem);

// Whether a client that trusts the authorities of `ca_pem` would accept the server certificate that
// `pem` begins with (the chain follows it) under the name `host` at the time of `clock`. kInvalid:
// it would not, and why.
Status VerifyServerCertificate(const std::string& pem, const std::string& ca_pem,
                               const std::string& host, const Clock& clock);

}  // namespace apiserver::inline v0::http
