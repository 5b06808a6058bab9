#pragma once

#include <set>
#include <string_view>

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/value.h"

// Validation of the resources that containers, pods and nodes have.
namespace apiserver::inline v0::groups::core {

// Checks ResourceRequirements. `claims`: the names of the pod's resourceClaims.
void CheckContainerResources(runtime::Value requirements, const std::set<std::string_view>& claims,
                             const field::Path& path, field::ErrorList& errors);
// Checks spec.resources of a pod, and that its containers do not want more.
void CheckPodResources(runtime::Value pod_spec, const std::set<std::string_view>& claims,
                       const field::Path& path, field::ErrorList& errors);
// Checks a quantity: not negative, and whole for resources that are counted.
void CheckQuantity(std::string_view resource, runtime::Value quantity, const field::Path& path,
                   field::ErrorList& errors);
// Checks the name of any resource.
void CheckResourceName(std::string_view resource, const field::Path& path,
                       field::ErrorList& errors);

}  // namespace apiserver::inline v0::groups::core
