#pragma once

#include <cstdint>

namespace apiserver::inline v0::storage {

// How much is stored of one resource: k8s.io/apiserver/pkg/storage.Stats.
struct Stats {
  std::int64_t count = 0;
  std::int64_t average_bytes = 0;  // Of an object as it is encoded; 0: not known.

  friend bool operator==(const Stats&, const Stats&) = default;
};

}  // namespace apiserver::inline v0::storage
