#pragma once

#include <cstdint>
#include <optional>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::patch {

enum class Nulls : std::uint8_t { kKept, kDropped };

// `value` without the maps that hold a `$patch` directive and, unless they are kept, without the
// null members of its maps: what becomes of a part of a patch that has nothing to be merged with.
// Nullopt: `value` is such a map itself. What is changed is made anew in `arena`. Iterative.
std::optional<runtime::Value> StripValue(const runtime::Value& value, Nulls nulls,
                                         runtime::Arena& arena);

}  // namespace apiserver::inline v0::patch
