#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/request_header.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"

// The authenticator of a server that delegates authentication to a cluster:
// k8s.io/apiserver/pkg/authentication/authenticatorfactory, DelegatingAuthenticatorConfig.
namespace apiserver::inline v0::authn {

// Options of NewDelegating().
struct DelegatingOptions {
  // Front proxies, which may act for other users; nullopt: none may. Its clock is not used.
  std::optional<RequestHeaderOptions> request_header = std::nullopt;
  // PEM authorities of users' certificates. Null: certificates are ignored.
  std::shared_ptr<const Source<std::string>> client_ca = nullptr;
  // Authenticates bearer tokens, also those of WebSockets. Null: tokens are ignored.
  std::shared_ptr<const auth::TokenAuthenticator> tokens = nullptr;
  // Makes requests without credentials system:anonymous. Off by default (in Go it is on).
  bool anonymous = false;
  std::vector<std::string> anonymous_paths = {};  // See NewAnonymous.
  const Clock* clock = &RealClock();
  metrics::Registry* metrics = nullptr;  // See X509Options.
};

// Tries front proxy, client certificate and token, in this order; an authenticated user is in
// system:authenticated. A request without credentials is anonymous; one with a bad credential is
// refused. (The server's filter recognises its own loopback client first.) kInvalid: nothing is
// configured that could authenticate a request.
Result<std::shared_ptr<const auth::Authenticator>> NewDelegating(DelegatingOptions options);

}  // namespace apiserver::inline v0::authn
