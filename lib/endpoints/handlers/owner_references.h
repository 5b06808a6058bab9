#pragma once

#include "apiserver/base/context.h"
#include "apiserver/runtime/object.h"

namespace apiserver::inline v0::endpoints {

// Drops exact duplicates from metadata.ownerReferences and warns of them.
void DedupOwnerReferences(const Context& ctx, runtime::Object& object, bool after_admission);

}  // namespace apiserver::inline v0::endpoints
