#pragma once

#include <cstdint>
#include <string_view>

#include "apiserver/cel/value.h"

// Sizes as the language and its cost model count them.
namespace apiserver::inline v0::cel {

// The number of code points of valid UTF-8.
std::uint64_t CodePoints(std::string_view text);

// Returns the size that run-time cost counts, actualSize of cel-go: code points, bytes, items,
// entries; of an optional that of its value; 1 for all else.
std::uint64_t CostSize(const Value& value);

// Returns ⌈CostSize(value) × factor⌉, the cost of a traversal.
std::uint64_t TraversalCost(const Value& value, double factor = 0.1);

}  // namespace apiserver::inline v0::cel
