#pragma once

#include <memory>
#include <vector>

#include "apiserver/auth/authenticator.h"

// Authenticators composed of others: k8s.io/apiserver/pkg/authentication/request/union and group.
namespace apiserver::inline v0::authn {

// Tries each until one authenticates the request; an error of one does not stop the search.
// kUnauthorized: none did, and some returned errors: all of them, "[a, b]". kTooManyRequests: none
// did, and one could not ask now.
//
// Audiences are not checked here: NewLocal does it for kinds of tokens that have none.
std::unique_ptr<auth::Authenticator> NewUnion(
    std::vector<std::shared_ptr<const auth::Authenticator>> authenticators);
// The same for tokens.
std::unique_ptr<auth::TokenAuthenticator> NewTokenUnion(
    std::vector<std::shared_ptr<const auth::TokenAuthenticator>> authenticators);

// The same as NewUnion, but the first error ends the search: a request with a bad credential does
// not become anonymous by a later authenticator.
std::unique_ptr<auth::Authenticator> NewUnionFailOnError(
    std::vector<std::shared_ptr<const auth::Authenticator>> authenticators);

// Adds the group system:authenticated to users of `inner`, except for system:anonymous and users
// who are in it, or in system:unauthenticated, already.
std::unique_ptr<auth::Authenticator> NewGroupAdder(
    std::shared_ptr<const auth::Authenticator> inner);

}  // namespace apiserver::inline v0::authn
