#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/status.h"

// Answers that name what was asked for: k8s.io/apiserver/pkg/endpoints/handlers/responsewriters.
namespace apiserver::inline v0::endpoints {

// 403: who cannot do what to which, and why not. A null user has no name.
Status ForbiddenStatusError(const auth::Attributes& asked, std::string_view reason);

// `text` without what a browser could take for HTML.
std::string Sanitized(std::string_view text);

}  // namespace apiserver::inline v0::endpoints
