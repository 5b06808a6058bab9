#pragma once

#include <memory>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/rest/schema_check.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::rest {

// Prepares and validates `object`, which is to replace `old`, for every resource. Errors as
// BeforeCreate; the schema's stand after metadata's and before the strategy's.
Status BeforeUpdate(const Strategy& strategy, const Context& ctx, runtime::Object& object,
                    const runtime::Object& old, const SchemaCheck& check = {});

// Makes the info of an update that replaces the stored object with `object`. If `object` has a uid,
// the stored object must have the same.
std::unique_ptr<UpdatedObjectInfo> DefaultUpdatedObjectInfo(runtime::ObjectPtr object);

}  // namespace apiserver::inline v0::rest
