#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

// Follows pkg/apis/apiextensions/validation of k8s.io/apiextensions-apiserver. Errors have the
// paths of its internal type, to which parts that are equal in all versions are hoisted:
// "spec.validation.openAPIV3Schema.properties[spec].type".
namespace apiserver::inline v0::apiextensions {

// Validates a new CustomResourceDefinition. Takes time linear in its size, but for rules in CEL.
field::ErrorList ValidateDefinition(const Context& ctx, const runtime::Object& definition);

// Validates the replacement of `old`, which may keep certain faults that `old` has.
field::ErrorList ValidateDefinitionUpdate(const Context& ctx, const runtime::Object& definition,
                                          const runtime::Object& old);

// Validates a write of the status.
field::ErrorList ValidateDefinitionStatus(const runtime::Object& definition,
                                          const runtime::Object& old);

}  // namespace apiserver::inline v0::apiextensions
