#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::groups::discovery {

// Follows ValidateEndpointSlice of k8s.io/kubernetes/pkg/apis/discovery/validation. Null `old`: a
// create. An update may keep endpoints that are older than the rules.
field::ErrorList ValidateEndpointSlice(const runtime::Object& slice, const runtime::Object* old);

}  // namespace apiserver::inline v0::groups::discovery
