#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/server.h"

// The group authentication.k8s.io, v1, as of Kubernetes 1.35: reviews of users' identities. A
// review is created and answered, but not stored.
namespace apiserver::inline v0::groups::authentication {

// Returns SelfSubjectReview and TokenReview; see core::Kinds().
Result<std::vector<runtime::KindPtr>> Kinds();

// Returns TokenRequest, the body of the subresource serviceaccounts/token; an hour is its default
// expirationSeconds. See controlplane::NewTokenRequests().
Result<runtime::KindPtr> TokenRequestKind();

// The authenticator behind the reviews.
struct Options {
  // Answers TokenReviews. It must be the server's own authenticator, or the answers are wrong.
  // Null: TokenReview is not served.
  std::shared_ptr<const auth::Authenticator> authenticator = nullptr;
  // The value of server::Config::api_audiences: the audiences of a review that names none. If
  // audiences are given, a valid token without audiences is an error (500): wrap an authenticator
  // that does not handle audiences itself, as authn::NewLocal does.
  std::vector<std::string> api_audiences = {};
  const Clock* clock = &RealClock();
};

// Serves SelfSubjectReview, which `kubectl auth whoami` creates, and TokenReview, which servers
// that delegate authentication create.
//
//   RETURN_IF_ERROR(groups::authentication::Install(*server, {.authenticator = authenticator}));
//
// The server's authorizer must limit TokenReviews to trusted users: a review tells whether a
// guessed token is valid. kConflict: the server has the group already.
Status Install(server::GenericAPIServer& server, const Options& options);

// Returns the storages alone, by resource, for hosts that serve more of the group. `kinds` is the
// result of Kinds().
std::map<std::string, std::shared_ptr<rest::Storage>> Reviews(
    const std::vector<runtime::KindPtr>& kinds, const Options& options);

}  // namespace apiserver::inline v0::groups::authentication
