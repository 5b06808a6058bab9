#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"
#include "apiserver/base/context.h"

// For whom a credential was issued: k8s.io/apiserver/pkg/authentication/authenticator, audiences.go
// and audagnostic.go.
namespace apiserver::inline v0::auth {

// The value of a context that limits authentication to credentials for one of these; absent: any
// will do. The authentication filter sets what the server is configured with, a TokenReview what
// its spec asks for.
struct Audiences {
  std::vector<std::string> names;
};

// Null: `ctx` does not limit.
const std::vector<std::string>* AudiencesOf(const Context& ctx);

// Those of `wanted` that are in `have` too, in the order of `wanted`.
std::vector<std::string> Intersect(const std::vector<std::string>& have,
                                   const std::vector<std::string>& wanted);

// Makes an authenticator aware of audiences that knows nothing of them: what `inner` accepts is
// accepted for those of `implicit` that the context asks for, and for nobody if there is none.
std::unique_ptr<Authenticator> WithImplicitAudiences(std::vector<std::string> implicit,
                                                     std::shared_ptr<const Authenticator> inner);
std::unique_ptr<TokenAuthenticator> WithImplicitAudiences(
    std::vector<std::string> implicit, std::shared_ptr<const TokenAuthenticator> inner);

}  // namespace apiserver::inline v0::auth
