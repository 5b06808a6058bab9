#pragma once

#include "apiserver/runtime/object.h"
#include "apiserver/runtime/value.h"

// What an object that was sent says about its owners; who they are is patch/apply's business.
namespace apiserver::inline v0::meta {

// Whether `entries`, metadata.managedFields as it was sent, asks to forget all owners: an empty
// list, or one that holds one empty entry and nothing else.
bool IsResetManagedFields(runtime::Value entries);
// An empty list is no value to a Go struct's encoder; as one empty entry, which means the same, it
// survives runtime::Settle. To be called before.
void KeepManagedFieldsReset(runtime::Object& object);

}  // namespace apiserver::inline v0::meta
