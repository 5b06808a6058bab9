#pragma once

#include <memory>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/secret.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"

// Tokens by which nodes join a cluster:
// k8s.io/kubernetes/plugin/pkg/auth/authenticator/token/bootstrap.
namespace apiserver::inline v0::authn {

// Options of NewBootstrapTokens().
struct BootstrapTokenOptions {
  std::shared_ptr<const SecretGetter> secrets = nullptr;  // Required.
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
};

// Authenticates a token `<id>.<secret>` as the user system:bootstrap:<id> in the group
// system:bootstrappers, if the Secret bootstrap-token-<id> of kube-system confirms it. nullopt: it
// has another form, or the Secret does not confirm it; the log has the reason. Secrets are compared
// in constant time and never logged. Errors: those of `secrets` except kNotFound.
std::unique_ptr<auth::TokenAuthenticator> NewBootstrapTokens(BootstrapTokenOptions options);

}  // namespace apiserver::inline v0::authn
