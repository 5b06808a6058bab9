#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Validation of access reviews: k8s.io/kubernetes/pkg/apis/authorization/validation.
namespace apiserver::inline v0::groups::authorization {

field::ErrorList ValidateSelfSubjectAccessReview(const runtime::Object& review);
field::ErrorList ValidateSubjectAccessReview(const runtime::Object& review);
field::ErrorList ValidateLocalSubjectAccessReview(const runtime::Object& review);

}  // namespace apiserver::inline v0::groups::authorization
