#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Follows kubernetes/pkg/apis/admissionregistration/validation, as far as webhooks go.
namespace apiserver::inline v0::groups::admissionregistration {

// Validates either kind of configuration. A webhook with matchConditions is refused, as this
// version cannot evaluate them.
field::ErrorList ValidateConfiguration(const runtime::Object& configuration);
// Validates an update; errors that `old` has already are allowed.
field::ErrorList ValidateConfigurationUpdate(const runtime::Object& configuration,
                                             const runtime::Object& old);

}  // namespace apiserver::inline v0::groups::admissionregistration
