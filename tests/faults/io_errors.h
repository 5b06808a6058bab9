#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "faults/disk.h"
#include "faults/outcome.h"

namespace apiserver::inline v0::faults {

struct IoErrorOptions {
  // The operations that fail; empty: all.
  std::vector<Operation> operations;
  // Up to which n; zero: until a life does not reach the fault.
  std::size_t nth_max = 0;
  // A seeded bug, which must be noticed; see WritersOptions.
  bool acknowledge_first = false;
  bool verbose = false;
};

// Fails the nth operation of each kind, once and for ever, with EIO and ENOSPC, from the opening of
// a store on, and verifies that it says so, that it goes on when the disk does, without being
// restarted, and that nothing acknowledged is lost by then or by a power cut afterwards.
Outcome RunIoErrors(const IoErrorOptions& options);

}  // namespace apiserver::inline v0::faults
