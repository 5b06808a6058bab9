#pragma once

#include "apiserver/runtime/object.h"
#include "apiserver/runtime/value.h"

// Requests about field ownership in an object that was sent; patch/apply decides who owns what.
namespace apiserver::inline v0::meta {

// Reports whether `entries`, metadata.managedFields as it was sent, asks to drop all owners: an
// empty list, or one that holds one empty entry and nothing else.
bool IsResetManagedFields(runtime::Value entries);
// Keeps such a request through runtime::Settle, which drops an empty list as Go's encoder of
// structs does: one empty entry means the same and survives. Call it before Settle.
void KeepManagedFieldsReset(runtime::Object& object);

}  // namespace apiserver::inline v0::meta
