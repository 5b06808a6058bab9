#pragma once  // Library-internal: other rooms include this header.

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/object.h"
#include "apiserver/runtime/schema.h"
#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::rest {

// Validates apiVersion, kind and metadata of the resources that are embedded in a custom object:
// schema/objectmeta of apiextensions-apiserver.
field::ErrorList ValidateEmbedded(const runtime::Object& object);

// Validates the resources in a value that has the schema, which is one itself if `resource` says
// so, as Coerce and Validate do: the first that does not fit its Go type is the only error. `path`
// is the value's.
field::ErrorList ValidateResources(const runtime::Schema& schema, const runtime::Value& value,
                                   bool resource, const field::Path& path);

}  // namespace apiserver::inline v0::rest
