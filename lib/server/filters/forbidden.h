#pragma once

#include <string_view>

#include "apiserver/auth/authorizer.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::server {

// Who may not do what to which: responsewriters.ForbiddenStatusError.
Status ForbiddenStatusError(const auth::Attributes& attributes, std::string_view reason);

}  // namespace apiserver::inline v0::server
