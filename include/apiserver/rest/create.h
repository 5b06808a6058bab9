#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::rest {

// What every resource does before an object is created: namespace, strategy, validation, warnings.
// The system fields are filled and the name is generated already. kInvalid: what is wrong with the
// object; kBadRequest: wrong namespace; kInternalError: the caller forgot something.
Status BeforeCreate(const Strategy& strategy, const Context& ctx, runtime::Object& object);

// The error of a create that found its name taken, if the server made that name up.
Status CheckGeneratedNameError(const runtime::Object& object, const Status& error);

}  // namespace apiserver::inline v0::rest
