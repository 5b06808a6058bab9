#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::storage {

// The progress of a cache in reading the state it answers from.
struct WarmUp {
  std::string prefix;      // The prefix of the cached keys.
  std::size_t loaded = 0;  // The number of objects read so far.
  std::size_t total = 0;   // The number of objects to read. Zero: not known yet.
  bool ready = false;
  // The error of the last attempt; OK while the first attempt is running.
  Status failure;
  std::chrono::nanoseconds elapsed = {};  // The time since it was last ready, or since it began.

  // Returns "warming up: 30000 of 100000 objects", "ready", or the failure.
  std::string ToString() const;
};

}  // namespace apiserver::inline v0::storage
