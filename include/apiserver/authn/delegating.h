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

// The authenticator of a server that leaves authentication to a cluster:
// k8s.io/apiserver/pkg/authentication/authenticatorfactory, DelegatingAuthenticatorConfig.
namespace apiserver::inline v0::authn {

struct DelegatingOptions {
  // Front proxies; nullopt: nobody speaks for others. Its clock is not used.
  std::optional<RequestHeaderOptions> request_header = std::nullopt;
  // PEM: what users' certificates must lead to; null: certificates say nothing.
  std::shared_ptr<const Source<std::string>> client_ca = nullptr;
  // Knows bearer tokens, also those of WebSockets; null: tokens say nothing.
  std::shared_ptr<const auth::TokenAuthenticator> tokens = nullptr;
  // Whom nobody knows is system:anonymous. Off unless asked for (in Go it is on).
  bool anonymous = false;
  std::vector<std::string> anonymous_paths = {};  // As NewAnonymous.
  const Clock* clock = &RealClock();
  metrics::Registry* metrics = nullptr;  // As X509Options.
};

// Asks in this order: front proxy, client certificate, token; whoever is known to one of them is in
// system:authenticated. Anonymous is who shows no credential; a bad one is refused. (The server's
// filter knows its own loopback before it asks.) kInvalid: no way to be known at all.
Result<std::shared_ptr<const auth::Authenticator>> NewDelegating(DelegatingOptions options);

}  // namespace apiserver::inline v0::authn
