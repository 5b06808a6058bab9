#pragma once

#include <cstddef>
#include <optional>

#include "apiserver/base/status.h"
#include "storage/cacher/cache.h"

namespace apiserver::inline v0::storage::cacher {

// How many changes may be looked through where nobody may wait.
inline constexpr std::size_t kChangesOnLoop = 2048;

// The objects of `cache` as they were at `revision`: the state now with later changes undone, or
// what was kept of an earlier call. nullopt: it does not know so much of the past, or not of the
// future. kWouldBlock: too much work where `may_block` is false.
Result<std::optional<View>> StateAt(Cache& cache, kv::Revision revision, bool may_block);

}  // namespace apiserver::inline v0::storage::cacher
