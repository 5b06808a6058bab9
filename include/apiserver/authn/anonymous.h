#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/auth/authenticator.h"

// Whom nobody knows: k8s.io/apiserver/pkg/authentication/request/anonymous.
namespace apiserver::inline v0::authn {

// Takes every request for one of system:anonymous in the group system:unauthenticated; only those
// to one of `paths`, if there are any ("/healthz"; exactly, not as a prefix). Belongs behind
// everything else, in a NewUnionFailOnError.
std::unique_ptr<auth::Authenticator> NewAnonymous(std::vector<std::string> paths = {});

// Whether `user` is nobody: system:anonymous, or in system:unauthenticated.
bool IsAnonymous(const auth::UserInfo& user);

}  // namespace apiserver::inline v0::authn
