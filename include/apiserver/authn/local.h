#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"

// The authenticator of a server that authenticates clients by itself:
// k8s.io/kubernetes/pkg/kubeapiserver/authenticator, Config.
namespace apiserver::inline v0::authn {

// An authenticator of one kind of tokens.
struct LocalTokens {
  std::shared_ptr<const auth::TokenAuthenticator> tokens;  // Required.
  // The authenticator returns the audiences of each token: it does for tokens of service accounts
  // (NewServiceAccountTokens) and reviewed ones (NewTokenReview). Tokens of files, issuers of ID
  // tokens and bootstrap Secrets have none and count as issued for `api_audiences`.
  bool know_audiences = false;
};

// Options of NewLocal().
struct LocalOptions {
  // Must equal server::Config::api_audiences and that of groups::authentication::Options.
  std::vector<std::string> api_audiences = {};
  // Authenticators of other credentials than bearer tokens, tried first: front proxies,
  // certificates, an administrator. They know no audiences, so that their credentials count as
  // issued for `api_audiences`.
  std::vector<std::shared_ptr<const auth::Authenticator>> requests = {};
  // Authenticators of bearer tokens, also those of WebSockets, tried in this order. Those of
  // service accounts should come before ID tokens, since only the latter may have to fetch keys.
  std::vector<LocalTokens> tokens = {};
  // Makes requests without credentials system:anonymous.
  bool anonymous = false;
  std::vector<std::string> anonymous_paths = {};  // See NewAnonymous.
};

// Tries `requests`, then `tokens`; an authenticated user is in system:authenticated. A request
// without credentials is anonymous; one with a bad credential is refused.
std::unique_ptr<auth::Authenticator> NewLocal(LocalOptions options);

}  // namespace apiserver::inline v0::authn
