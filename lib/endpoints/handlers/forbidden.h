#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/status.h"

// Errors that name the requested action: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters.
namespace apiserver::inline v0::endpoints {

// Returns the 403 with the user, the action and the reason. A null user has no name.
Status ForbiddenStatusError(const auth::Attributes& asked, std::string_view reason);

// Returns `text` without characters that a browser could take for HTML.
std::string Sanitized(std::string_view text);

}  // namespace apiserver::inline v0::endpoints
