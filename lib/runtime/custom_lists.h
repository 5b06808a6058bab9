#pragma once

#include "apiserver/base/field_path.h"
#include "apiserver/runtime/schema.h"

namespace apiserver::inline v0::runtime {

// Appends an error for each item of a set or list map that stands there twice:
// schema/listtype of apiextensions-apiserver.
void CheckCustomLists(const Schema& schema, const Value& root, field::ErrorList& errors);

}  // namespace apiserver::inline v0::runtime
