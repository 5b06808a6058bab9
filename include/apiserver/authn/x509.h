#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"

// Client certificates: k8s.io/apiserver/pkg/authentication/request/x509.
namespace apiserver::inline v0::authn {

struct X509Options {
  std::string ca_pem;  // Required. One or more certificates that clients' must lead to.
  const Clock* clock = &RealClock();
  // What a verification found is kept per connection, up to this many; over it all are verified
  // anew.
  std::size_t connections_max = 100'000;
};

// A certificate that `ca_pem` vouches for, made for clients, says who sends the request: its common
// name is the user, its organizations the groups, OID 1.3.6.1.4.1.57683.2 the uid, its SHA-256 the
// credential id. A certificate without a common name says nothing. kInvalid: no certificate in
// `ca_pem`, or one that cannot be read.
Result<std::unique_ptr<auth::Authenticator>> NewX509(const X509Options& options);

}  // namespace apiserver::inline v0::authn
