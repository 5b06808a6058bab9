#pragma once

#include <memory>

#include "apiserver/auth/authorizer.h"
#include "apiserver/auth/rules.h"
#include "apiserver/authz/config.h"
#include "apiserver/authz/config_file.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::authz {

// All authorizers of one version of the file.
struct Chain {
  std::shared_ptr<const auth::Authorizer> authorizer;
  std::shared_ptr<const auth::RuleResolver> rules;
};

// Makes the authorizers. `config` is valid, and `options` have all it needs, except for kubeconfigs
// and the files that they name. The error, kInvalid, begins with the authorizer's name.
Result<Chain> NewChain(const AuthorizationConfiguration& config,
                       const AuthorizationConfigFileOptions& options);

}  // namespace apiserver::inline v0::authz
