#pragma once

#include <string_view>

#include "apiserver/runtime/value.h"

// The CA bundle of a conversion webhook, in a CustomResourceDefinition of v1.
namespace apiserver::inline v0::apiextensions {

// The condition Established=False of a definition whose bundle cannot be read.
inline constexpr std::string_view kInvalidCABundleReason = "InvalidCABundle";
inline constexpr std::string_view kInvalidCABundleMessage =
    "The conversion webhook CABundle is invalid";

// True if spec.conversion has a CA bundle that holds no certificate. Such a definition is not
// established. No bundle and an empty one are valid, one of white space is not.
bool HasInvalidCABundle(const runtime::Value& conversion);

// True if an update of `old_definition`, a whole object, may have an invalid CA bundle: it is not
// established yet, or its own bundle is invalid.
bool MayHaveInvalidCABundle(const runtime::Value& old_definition);

}  // namespace apiserver::inline v0::apiextensions
