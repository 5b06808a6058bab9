#pragma once

#include <memory>
#include <vector>

#include "apiserver/auth/authenticator.h"

// Authenticators made of others: k8s.io/apiserver/pkg/authentication/request/union and group.
namespace apiserver::inline v0::authn {

// These do not look at audiences: NewLocal does, for kinds of tokens that know none.
//
// The first that knows the request answers; an error of one does not keep the next from being
// asked. kUnauthorized: none knew it, and some had an error: all of them, "[a, b]".
// kTooManyRequests: none knew it, and one could not be asked now.
std::unique_ptr<auth::Authenticator> NewUnion(
    std::vector<std::shared_ptr<const auth::Authenticator>> authenticators);
std::unique_ptr<auth::TokenAuthenticator> NewTokenUnion(
    std::vector<std::shared_ptr<const auth::TokenAuthenticator>> authenticators);

// As NewUnion, but the first error ends it: who shows a bad credential is not taken for somebody
// that a later authenticator makes of anyone (anonymous).
std::unique_ptr<auth::Authenticator> NewUnionFailOnError(
    std::vector<std::shared_ptr<const auth::Authenticator>> authenticators);

// Adds the group system:authenticated to whomever `inner` knows, but system:anonymous and those who
// are in it, or in system:unauthenticated, already.
std::unique_ptr<auth::Authenticator> NewGroupAdder(
    std::shared_ptr<const auth::Authenticator> inner);

}  // namespace apiserver::inline v0::authn
