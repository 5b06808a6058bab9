#pragma once

#include <chrono>
#include <cstddef>

namespace apiserver::inline v0::storage::kv {

// Limits the past that an embedded engine keeps. When the first limit is hit the engine compacts:
// exact reads, continue tokens and watches from before then end with kExpired. History is compacted
// in steps of a tenth, while writes come in, so that these are averages.
struct HistoryOptions {
  // The largest age of history. Zero: no limit by age.
  std::chrono::seconds window = std::chrono::minutes(5);
  // The largest number of changes. Zero: no limit.
  std::size_t events_max = 500'000;
  // The largest size of superseded and deleted values, in bytes. Zero: no limit. When it is hit,
  // half of the history goes.
  std::size_t bytes_max = 256 << 20;
};

}  // namespace apiserver::inline v0::storage::kv
