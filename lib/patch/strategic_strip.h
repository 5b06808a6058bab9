#pragma once

#include <cstdint>
#include <optional>

#include "apiserver/runtime/value.h"

namespace apiserver::inline v0::patch {

enum class Nulls : std::uint8_t { kKept, kDropped };

// Prepares a part of a patch that has nothing to be merged with: returns `value` without the maps
// that hold a `$patch` directive and, for kDropped, without the null members of its maps. nullopt:
// `value` is such a map itself. Changed parts are made anew in `arena`. Iterative.
std::optional<runtime::Value> StripValue(const runtime::Value& value, Nulls nulls,
                                         runtime::Arena& arena);

}  // namespace apiserver::inline v0::patch
