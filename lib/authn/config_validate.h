#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apiserver/authn/config.h"
#include "apiserver/base/field_path.h"
#include "authn/expressions.h"

namespace apiserver::inline v0::authn {

// Validates a configuration and compiles its expressions. `compiled` receives the expressions of
// each issuer, in order; they count only if there are no errors.
field::ErrorList CompileAuthenticationConfiguration(
    const AuthenticationConfiguration& config, const std::vector<std::string>& disallowed_issuers,
    std::vector<std::shared_ptr<const IssuerExpressions>>& compiled);

}  // namespace apiserver::inline v0::authn
