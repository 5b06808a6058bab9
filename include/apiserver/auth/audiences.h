#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/context.h"

// The audiences of credentials: k8s.io/apiserver/pkg/authentication/authenticator, audiences.go and
// audagnostic.go.
namespace apiserver::inline v0::auth {

// The value of a context that limits authentication to credentials issued for one of these
// audiences. Absent: audiences are not checked. The authentication filter sets the server's own
// audiences, a TokenReview those of its spec.
struct Audiences {
  std::vector<std::string> names;
};

// Returns the audiences of `ctx`. Null: it does not limit them.
const std::vector<std::string>* AudiencesOf(const Context& ctx);

// Returns the audiences in both lists, in the order of `wanted`.
std::vector<std::string> Intersect(const std::vector<std::string>& have,
                                   const std::vector<std::string>& wanted);

// Adds audiences to an authenticator that does not know them: a credential that `inner` accepts is
// accepted for those of `implicit` that the context asks for. If it asks for none of them, the
// credential is not recognised.
std::unique_ptr<Authenticator> WithImplicitAudiences(std::vector<std::string> implicit,
                                                     std::shared_ptr<const Authenticator> inner);
std::unique_ptr<TokenAuthenticator> WithImplicitAudiences(
    std::vector<std::string> implicit, std::shared_ptr<const TokenAuthenticator> inner);

}  // namespace apiserver::inline v0::auth
