#pragma once

#include <memory>

#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::rest {

// What every resource does before `object` replaces `old`. Errors as BeforeCreate.
Status BeforeUpdate(const Strategy& strategy, const Context& ctx, runtime::Object& object,
                    const runtime::Object& old);

// Replaces whatever is stored by `object`; if that has a uid, only an object with the same.
std::unique_ptr<UpdatedObjectInfo> DefaultUpdatedObjectInfo(runtime::ObjectPtr object);

}  // namespace apiserver::inline v0::rest
