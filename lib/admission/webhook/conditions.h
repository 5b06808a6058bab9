#pragma once

#include "admission/policy/request_values.h"
#include "admission/webhook/matcher.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0::admission {

// Returns whether the request meets the match conditions of the webhook of `invocation`; `objects`
// are in its kind. kForbidden: the conditions failed, and failurePolicy is Fail. kWouldBlock: an
// authorizer must be asked, and `ctx` may not wait. Follows the end of ShouldCallHook of
// plugin/webhook/generic.
Result<bool> MeetsConditions(const Context& ctx, const Attributes& attributes,
                             const Invocation& invocation, const ReviewObjects& objects,
                             policy::RequestValues& values);

}  // namespace apiserver::inline v0::admission
