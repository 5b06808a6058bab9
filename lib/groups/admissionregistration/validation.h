#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// kubernetes/pkg/apis/admissionregistration/validation, as far as webhooks go.
namespace apiserver::inline v0::groups::admissionregistration {

// Of either kind of configuration: which one, its Kind says. A webhook with matchConditions is
// refused, as this version cannot evaluate them.
field::ErrorList ValidateConfiguration(const runtime::Object& configuration);
// What was already wrong with `old` may stay so.
field::ErrorList ValidateConfigurationUpdate(const runtime::Object& configuration,
                                             const runtime::Object& old);

}  // namespace apiserver::inline v0::groups::admissionregistration
