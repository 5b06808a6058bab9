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

struct X509Options {
  // One or more certificates that clients' must lead to. Required without `ca`.
  std::string ca_pem = {};
  // The same, when it may change: a new bundle counts at once, also for connections that exist.
  // While it is empty, no certificate says anything; one that cannot be read changes nothing
  // (whoever sets it checks first). Null: `ca_pem` stays.
  std::shared_ptr<const Source<std::string>> ca = nullptr;
  const Clock* clock = &RealClock();
  // What a verification found is kept per connection, up to this many; over it all are verified
  // anew.
  std::size_t connections_max = 100'000;
  // Counts apiserver_client_certificate_expiration_seconds; outlives the authenticator. Null: no.
  metrics::Registry* metrics = nullptr;
};

// A certificate that `ca_pem` vouches for, made for clients, says who sends the request: its common
// name is the user, its organizations the groups, OID 1.3.6.1.4.1.57683.2 the uid, its SHA-256 the
// credential id. A certificate without a common name says nothing. Chains of more than 16
// certificates, and certificates over 32 KiB, are refused unread. kInvalid: no certificate in
// `ca_pem`, or one that cannot be read.
Result<std::unique_ptr<auth::Authenticator>> NewX509(const X509Options& options);

// kInvalid: `pem` is no bundle that NewX509 or NewRequestHeader could use.
Status CheckCertificateBundle(const std::string& pem);

}  // namespace apiserver::inline v0::authn
