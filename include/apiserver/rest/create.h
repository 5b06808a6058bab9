#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/validate.h"

namespace apiserver::inline v0::rest {

// What every resource does before an object is created: namespace, strategy, validation, warnings.
// The system fields are filled and the name is generated already. `checked` is validated by the
// kind's schema, whose errors stand before the strategy's in one Status. kInvalid: what is wrong
// with the object; kBadRequest: wrong namespace; kInternalError: the caller forgot something.
Status BeforeCreate(const Strategy& strategy, const Context& ctx, runtime::Object& object,
                    runtime::SchemaPart checked = runtime::SchemaPart::kObject);

// The error of a create that found its name taken, if the server made that name up.
Status CheckGeneratedNameError(const runtime::Object& object, const Status& error);

}  // namespace apiserver::inline v0::rest
