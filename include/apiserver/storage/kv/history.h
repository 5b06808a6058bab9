#pragma once

#include <chrono>
#include <cstddef>

namespace apiserver::inline v0::storage::kv {

// How much of the past an embedded engine keeps by itself. Whichever limit is hit first makes it
// compact: exact reads, continue tokens and watches from before then end with kExpired. History is
// compacted in steps of a tenth, while writes come in, so that these are averages.
struct HistoryOptions {
  // Zero: no limit by age.
  std::chrono::seconds window = std::chrono::minutes(5);
  // Changes. Zero: no limit.
  std::size_t events_max = 500'000;
  // Bytes of superseded and deleted values; zero: no limit. When it is hit, half of the history
  // goes.
  std::size_t bytes_max = 256 << 20;
};

}  // namespace apiserver::inline v0::storage::kv
