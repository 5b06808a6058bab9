#pragma once

#include <cstddef>
#include <optional>

#include "apiserver/base/status.h"
#include "storage/cacher/cache.h"

namespace apiserver::inline v0::storage::cacher {

// Limits the changes that are undone on an I/O loop, where nothing may wait.
inline constexpr std::size_t kChangesOnLoop = 2048;

// Returns the objects of `cache` as they were at `revision`: the present state with later changes
// undone, or the kept result of an earlier call. nullopt: the cache does not reach that far back,
// or has not seen the revision. kWouldBlock: too much work where `may_block` is false.
Result<std::optional<View>> StateAt(Cache& cache, kv::Revision revision, bool may_block);

}  // namespace apiserver::inline v0::storage::cacher
