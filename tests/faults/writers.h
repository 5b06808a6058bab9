#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "apiserver/storage/kv/engine.h"
#include "faults/history.h"

namespace apiserver::inline v0::faults {

using Write = std::function<Result<storage::kv::TxnResponse>(const storage::kv::TxnRequest&)>;

struct WritersOptions {
  std::uint64_t seed = 0;
  std::uint64_t life = 0;
  // Of each writer; it ends there, or when the history is full.
  std::size_t writes = ~std::size_t{0};
  bool stop_at_error = true;
  // A bug that a harness must notice: what is not written yet counts as acknowledged.
  bool acknowledge_first = false;
};

// Creates, updates and deletes keys of one writer, in an order that the seed decides. What a failed
// comparison reports is taken over.
void RunWriter(const Write& write, History& history, std::size_t writer,
               const WritersOptions& options);
// All of History::kWriters at once; returns when they have ended.
void RunWriters(const Write& write, History& history, const WritersOptions& options);
Write WriteTo(storage::kv::Engine& engine);

}  // namespace apiserver::inline v0::faults
