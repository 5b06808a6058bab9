#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/field_path.h"
#include "apiserver/rest/schema_check.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::rest {

// Validates an object by the schema and the rules of its kind, as the replacement of `old` or, if
// that is null, as a new one. Errors that an update leaves as they were may become warnings.
// `others`: what is wrong with the object besides, which may keep the rules of a custom resource
// from running.
field::ErrorList ValidateBySchema(const Context& ctx, const runtime::Object& object,
                                  const runtime::Object* old, const SchemaCheck& check,
                                  const field::ErrorList& others = {});

}  // namespace apiserver::inline v0::rest
