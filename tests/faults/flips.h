#pragma once

#include <cstddef>
#include <cstdint>

#include "faults/outcome.h"

namespace apiserver::inline v0::faults {

struct FlipOptions {
  std::uint64_t seed = 1;
  std::size_t rounds = 50;
  bool verbose = false;
};

// How the damages ended; `outcome.violations` are the wrong answers nobody was warned of.
struct FlipOutcome {
  Outcome outcome;
  std::size_t harmless = 0;  // All answers right.
  std::size_t refused = 0;   // The store did not open, and said why.
  std::size_t failed = 0;    // It opened and a read said why not.
};

// Damages one file of a store at a time: a bit, a sector of 512 bytes that is zeros, noise or cut
// off; and compares all that is read afterwards with what was there.
FlipOutcome RunFlips(const FlipOptions& options);

}  // namespace apiserver::inline v0::faults
