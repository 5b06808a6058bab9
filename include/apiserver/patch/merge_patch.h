#pragma once

#include "apiserver/base/status.h"
#include "apiserver/runtime/value.h"

// JSON merge patch, RFC 7386.
namespace apiserver::inline v0::patch {

// `document` with `patch` merged in: maps member by member, null removes, everything else replaces.
// Maps that were merged or are new have their members sorted by key, as encoding/json leaves them;
// raw JSON is merged into as what it says. The result lives in `arena` and shares what it
// can with both, which must outlive it.
//
// kBadRequest: `patch` is not a map.
Result<runtime::Value> ApplyMergePatch(runtime::Value document, runtime::Value patch,
                                       runtime::Arena& arena);

// The smallest patch that makes `modified` of `original` (both maps); an empty map when they are
// equal. What `modified` says with null cannot be told in a merge patch.
runtime::Value CreateMergePatch(runtime::Value original, runtime::Value modified,
                                runtime::Arena& arena);

}  // namespace apiserver::inline v0::patch
