#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::rest {

// Validates apiVersion, kind and metadata of the resources that are embedded in a custom object:
// schema/objectmeta of apiextensions-apiserver.
field::ErrorList ValidateEmbedded(const runtime::Object& object);

}  // namespace apiserver::inline v0::rest
