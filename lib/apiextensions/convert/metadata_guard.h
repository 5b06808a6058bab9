#pragma once

#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/runtime/arena.h"
#include "apiserver/runtime/value.h"

// The rules for metadata of objects that a conversion webhook returns: it may change labels and
// annotations. Follows validateConvertedObject and restoreObjectMeta of
// apiextensions-apiserver/pkg/apiserver/conversion. Both objects are whole, with kind and
// apiVersion; errors have no prefix.
namespace apiserver::inline v0::apiextensions {

// Returns an error of a conversion. Upstream's are no API errors: they reach the client as a 500
// without reason.
Status ConversionError(std::string why);

// Compares kind, name, namespace and UID. kUnknown: `must have the same name: a != b`.
Status CheckSameObject(const runtime::Value& original, const runtime::Value& converted);

// Returns the metadata of `original` with the labels and annotations of `converted`. It lives in
// `arena` and in both objects. kUnknown: the metadata of either is malformed, or labels or
// annotations that were changed are not valid.
Result<runtime::Value> RestoredMetadata(const runtime::Value& original,
                                        const runtime::Value& converted, runtime::Arena& arena);

}  // namespace apiserver::inline v0::apiextensions
