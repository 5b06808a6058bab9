#pragma once

#include <cstdlib>

namespace apiserver_fuzz {

// Ends the process, which is what a fuzzer calls a finding.
inline void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace apiserver_fuzz
