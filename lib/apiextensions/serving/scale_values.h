#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

// The values that a custom object shows in its Scale. Follows ValidateScaleSpec and
// ValidateScaleStatus of pkg/registry/customresource/validator.go.
namespace apiserver::inline v0::apiextensions {

// Validates the desired replicas: an absent value is valid, another is an integer from 0 to 2^31-1.
field::ErrorList ValidateScaleSpec(const runtime::Object& object, const runtime::ScalePaths& paths);
// Validates the actual replicas in the same way, and that the label selector is text.
field::ErrorList ValidateScaleStatus(const runtime::Object& object,
                                     const runtime::ScalePaths& paths);

}  // namespace apiserver::inline v0::apiextensions
