#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Validation of nodes: k8s.io/kubernetes/pkg/apis/core/validation.
namespace apiserver::inline v0::groups::core {

field::ErrorList ValidateNode(const runtime::Object& node);
// Checks updates of the node and of its status.
field::ErrorList ValidateNodeUpdate(const runtime::Object& now, const runtime::Object& before);

}  // namespace apiserver::inline v0::groups::core
