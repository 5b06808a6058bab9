#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::storage {

// How far a cache has come in reading the state it answers from.
struct WarmUp {
  std::string prefix;      // Of the keys that are cached.
  std::size_t loaded = 0;  // Objects read so far.
  std::size_t total = 0;   // Objects to read; zero: not known yet.
  bool ready = false;
  // Why the last attempt failed; OK while the first one goes on.
  Status failure;
  std::chrono::nanoseconds elapsed = {};  // Since it was last ready, or since it began.

  // "warming up: 30000 of 100000 objects", "ready", or what failed.
  std::string ToString() const;
};

}  // namespace apiserver::inline v0::storage
