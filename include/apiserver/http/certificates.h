#pragma once

#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/http/message.h"

// Readers of certificates, for messages to people and for checks before a server starts. Decisions
// about clients are made in authn.
namespace apiserver::inline v0::http {

// The parts of one certificate that people want to see.
struct CertificateFacts {
  std::string subject;  // "CN=front-proxy-ca", RFC 2253.
  std::string issuer;
  std::vector<std::string> dns_names;  // Those of the subject alternative names.
  Clock::Wall not_before;
  Clock::Wall not_after;
  bool authority = false;  // It may sign others.
};
// Returns the facts of each certificate in a PEM text, in order. kInvalid: there is none, or one is
// malformed.
Result<std::vector<CertificateFacts>> DescribeCertificates(const std::string& pem);
// The same of the certificates that the other side of a connection has shown.
Result<std::vector<CertificateFacts>> DescribeCertificates(const PeerCertificates& shown);

// Checks that a client which trusts the authorities of `ca_pem` would accept the server certificate
// at the beginning of `pem` (its chain follows) under the name `host` at the time of `clock`.
// kInvalid: it would not; the message says why.
Status VerifyServerCertificate(const std::string& pem, const std::string& ca_pem,
                               const std::string& host, const Clock& clock);
// Checks that a server which trusts the authorities of `ca_pem` would accept the client certificate
// at the beginning of `pem` (its chain follows) at the time of `clock`. kInvalid: it would not; the
// message says why.
Status VerifyClientCertificate(const std::string& pem, const std::string& ca_pem,
                               const Clock& clock);

}  // namespace apiserver::inline v0::http
