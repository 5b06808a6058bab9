#pragma once

#include <memory>

#include "apiserver/auth/authenticator.h"
#include "apiserver/authn/secret.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"

// Tokens that nodes join a cluster with:
// k8s.io/kubernetes/plugin/pkg/auth/authenticator/token/bootstrap.
namespace apiserver::inline v0::authn {

struct BootstrapTokenOptions {
  std::shared_ptr<const SecretGetter> secrets = nullptr;  // Required.
  const Clock* clock = &RealClock();
  LogSink* log = &NullLogSink();
};

// A token `<id>.<secret>` stands for the user system:bootstrap:<id> in the group
// system:bootstrappers, as the Secret bootstrap-token-<id> of kube-system says. nullopt: of another
// form, or the Secret does not bear it out; the log says why. Secrets are compared in constant time
// and never logged. Errors: those of `secrets` but kNotFound.
std::unique_ptr<auth::TokenAuthenticator> NewBootstrapTokens(BootstrapTokenOptions options);

}  // namespace apiserver::inline v0::authn
