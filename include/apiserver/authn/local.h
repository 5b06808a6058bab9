#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"

// The authenticator of a server that knows its clients by itself:
// k8s.io/kubernetes/pkg/kubeapiserver/authenticator, Config.
namespace apiserver::inline v0::authn {

// Tokens of one kind.
struct LocalTokens {
  std::shared_ptr<const auth::TokenAuthenticator> tokens;  // Required.
  // Whether they say, or whoever is asked about them says, for which audiences each of them is:
  // tokens of service accounts (NewServiceAccountTokens) and reviewed ones (NewTokenReview). Those
  // of files, issuers of ID tokens and bootstrap Secrets do not, and are for `api_audiences`.
  bool know_audiences = false;
};

struct LocalOptions {
  // As server::Config::api_audiences, to which it must be equal, and to that of
  // groups::authentication::Options.
  std::vector<std::string> api_audiences = {};
  // What is not a bearer token, or known before all this: front proxies, certificates, an
  // administrator. They know no audiences, so that all of it is for `api_audiences`.
  std::vector<std::shared_ptr<const auth::Authenticator>> requests = {};
  // Bearer tokens, also those of WebSockets. Asked in this order; those of service accounts should
  // stand before ID tokens, since only the latter's keys may have to be asked for.
  std::vector<LocalTokens> tokens = {};
  // Whom nobody knows is system:anonymous.
  bool anonymous = false;
  std::vector<std::string> anonymous_paths = {};  // As NewAnonymous.
};

// Asks `requests` first, then about tokens; whoever is known is in system:authenticated. Anonymous
// is who shows no credential; a bad one is refused.
std::unique_ptr<auth::Authenticator> NewLocal(LocalOptions options);

}  // namespace apiserver::inline v0::authn
