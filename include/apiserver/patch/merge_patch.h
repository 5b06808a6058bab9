#pragma once

#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

// JSON merge patch, RFC 7386.
namespace apiserver::inline v0::patch {

// Merges `patch` into `document`: maps member by member, null removes, everything else replaces.
// Maps that were merged or are new have their members sorted by key, as encoding/json leaves them;
// raw JSON is merged into as the value it stands for. The result lives in `arena` and shares what
// it can with both, which must outlive it.
//
// kBadRequest: `patch` is not a map.
Result<runtime::Value> ApplyMergePatch(runtime::Value document, runtime::Value patch,
                                       runtime::Arena& arena);

// Returns the smallest patch that turns `original` into `modified` (both maps); an empty map if
// they are equal. A merge patch cannot express a null in `modified`.
runtime::Value CreateMergePatch(runtime::Value original, runtime::Value modified,
                                runtime::Arena& arena);

}  // namespace apiserver::inline v0::patch
