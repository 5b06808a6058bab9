#pragma once

#include <cstddef>
#include <cstdint>

#include "faults/outcome.h"

namespace apiserver::inline v0::faults {

enum class Subject : std::uint8_t {
  kEngine,            // The store under test.
  kLyingDisk,         // It, over a disk whose syncs do nothing. Must lose.
  kAcknowledgeFirst,  // It, with writers that count on what they have not been told. Must lose.
  kBare,              // RocksDB alone, synced.
  kBareUnsynced,      // RocksDB alone, not synced. Must lose.
};

struct CutOptions {
  Subject subject = Subject::kEngine;
  std::uint64_t seed = 1;
  std::size_t rounds = 5;
  bool verbose = false;
};

// Cuts the power of a disk at random moments of the lives of one store, openings included, loses
// what was not synced, and verifies what is left.
Outcome RunCuts(const CutOptions& options);

// Cuts the log of one short history of `writes` writes at each of its bytes.
Outcome RunBoundaries(std::size_t writes);

}  // namespace apiserver::inline v0::faults
