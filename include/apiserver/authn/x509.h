#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"

// Client certificates: k8s.io/apiserver/pkg/authentication/request/x509.
namespace apiserver::inline v0::authn {

// Options of NewX509().
struct X509Options {
  // One or more PEM authorities of clients' certificates. Required without `ca`.
  std::string ca_pem = {};
  // The same, if it may change: a new bundle takes effect at once, also for existing connections.
  // While it is empty, certificates are ignored; one that cannot be read changes nothing (check it
  // first). Null: `ca_pem` stays.
  std::shared_ptr<const Source<std::string>> ca = nullptr;
  const Clock* clock = &RealClock();
  // The most connections for which the result of verification is kept; beyond, every request is
  // verified anew.
  std::size_t connections_max = 100'000;
  // Counts apiserver_client_certificate_expiration_seconds; outlives the authenticator. Null: not
  // counted.
  metrics::Registry* metrics = nullptr;
};

// Authenticates requests by a client certificate that `ca_pem` has signed: its common name is the
// user, its organizations the groups, OID 1.3.6.1.4.1.57683.2 the uid, its SHA-256 the credential
// id. A certificate without a common name is ignored. Chains of more than 16 certificates, and
// certificates over 32 KiB, are refused unread. kInvalid: no certificate in `ca_pem`, or one that
// cannot be read.
Result<std::unique_ptr<auth::Authenticator>> NewX509(const X509Options& options);

// Checks a bundle for NewX509 or NewRequestHeader. kInvalid: they could not use it.
Status CheckCertificateBundle(const std::string& pem);

}  // namespace apiserver::inline v0::authn
