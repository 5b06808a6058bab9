#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"

// Anonymous requests: k8s.io/apiserver/pkg/authentication/request/anonymous.
namespace apiserver::inline v0::authn {

// Authenticates every request as system:anonymous in the group system:unauthenticated. If `paths`
// is not empty, only requests to these ("/healthz"; exactly, not as a prefix). Belongs behind all
// others, in a NewUnionFailOnError.
std::unique_ptr<auth::Authenticator> NewAnonymous(std::vector<std::string> paths = {});

// True if `user` is system:anonymous, or a member of system:unauthenticated.
bool IsAnonymous(const auth::UserInfo& user);

}  // namespace apiserver::inline v0::authn
