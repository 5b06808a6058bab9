#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::groups::core {

// Validate what pods/ephemeralcontainers and pods/resize may change:
// k8s.io/kubernetes/pkg/apis/core/validation.
field::ErrorList ValidateEphemeralContainersUpdate(const runtime::Object& now,
                                                   const runtime::Object& before);
field::ErrorList ValidatePodResize(const runtime::Object& now, const runtime::Object& before);

// Reports whether two lists have containers of the same names in the same order.
bool SameContainerNames(runtime::Value a, runtime::Value b);

}  // namespace apiserver::inline v0::groups::core
