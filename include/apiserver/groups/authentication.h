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

// The group authentication.k8s.io, v1, as of Kubernetes 1.35: questions about who somebody is. They
// are created, answered and forgotten.
namespace apiserver::inline v0::groups::authentication {

// SelfSubjectReview and TokenReview; see core::Kinds().
Result<std::vector<runtime::KindPtr>> Kinds();

struct Options {
  // Answers TokenReviews: the one that the server itself asks, or the answers are wrong. Null:
  // TokenReview is not served.
  std::shared_ptr<const auth::Authenticator> authenticator = nullptr;
  // As server::Config::api_audiences: for whom a token must be if its review does not say. Where
  // audiences are asked for, a token that is good but tells of none is an error (500): what knows
  // no audiences by itself is wrapped, as authn::NewLocal does.
  std::vector<std::string> api_audiences = {};
  const Clock* clock = &RealClock();
};

// Serves SelfSubjectReview, which `kubectl auth whoami` asks, and TokenReview, which servers that
// delegate authentication ask.
//
//   RETURN_IF_ERROR(groups::authentication::Install(*server, {.authenticator = authenticator}));
//
// Who may ask about tokens is for the server's authorizer to say: reviews tell whether a guess is
// right. kConflict: the server has the group already.
Status Install(server::GenericAPIServer& server, const Options& options);

// The storages alone, by resource, for hosts that serve more of the group. `kinds` is what Kinds()
// gave.
std::map<std::string, std::shared_ptr<rest::Storage>> Reviews(
    const std::vector<runtime::KindPtr>& kinds, const Options& options);

}  // namespace apiserver::inline v0::groups::authentication
