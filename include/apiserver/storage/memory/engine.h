#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/kv/history.h"

namespace apiserver::inline v0::storage::memory {

// The limits and the clock of a memory engine.
struct Options {
  // Determines when leases end and history ages. Must outlive the engine.
  const Clock& clock = RealClock();

  // Limits a value's size; a larger one is refused with kRequestEntityTooLarge. The default is
  // etcd's, so that a value stored here can move there. Zero: no limit.
  std::size_t value_bytes_max = std::size_t{1536} * 1024;

  // Limits the history that is kept.
  kv::HistoryOptions history;

  // The revision to begin at; lower ones count as compacted. Set it for a store that is made anew
  // at every start and yet must not look older than before. At least 1.
  std::int64_t first_revision = 1;
};

// Returns a store that lives as long as the object: for tests, for caches, for servers without a
// disk. It answers everything without waiting, whatever ctx.may_block() says, and keeps every
// promise of kv::Engine but durability.
//
// Ended leases are noticed by every call and, when there are none, by a thread that exists from the
// first lease on. The destructor stops the engine; tails may outlive it.
std::unique_ptr<kv::Engine> NewEngine(Options options = {});

}  // namespace apiserver::inline v0::storage::memory
