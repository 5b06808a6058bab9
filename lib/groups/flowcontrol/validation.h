#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Follows k8s.io/kubernetes/pkg/apis/flowcontrol/validation.
namespace apiserver::inline v0::groups::flowcontrol {

field::ErrorList ValidateFlowSchema(const runtime::Object& schema);
field::ErrorList ValidatePriorityLevel(const runtime::Object& level);
// Validates the status of either kind.
field::ErrorList ValidateStatus(const runtime::Object& object);

}  // namespace apiserver::inline v0::groups::flowcontrol
