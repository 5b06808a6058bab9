#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/rest/schema_check.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::rest {

// Validates the fields of a custom object that its scale subresource shows, if it has one: numbers
// of replicas fit in an int32 and are not negative, the selector is a text. Of a status only what
// belongs to it.
field::ErrorList ValidateScale(const runtime::Object& object, runtime::SchemaPart part);

}  // namespace apiserver::inline v0::rest
