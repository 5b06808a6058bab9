#pragma once

#include "patch/apply/type.h"

namespace apiserver::inline v0::patch::apply {

// Returns the type of apiextensions' JSONSchemaProps, which contains itself, so that no Schema can
// say it.
const Type& JsonSchemaType();

}  // namespace apiserver::inline v0::patch::apply
