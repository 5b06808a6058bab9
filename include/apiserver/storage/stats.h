#pragma once

#include <cstdint>

namespace apiserver::inline v0::storage {

// The number and size of one resource's stored objects: k8s.io/apiserver/pkg/storage.Stats.
struct Stats {
  std::int64_t count = 0;
  std::int64_t average_bytes = 0;  // The encoded size of one object. Zero: not known.

  friend bool operator==(const Stats&, const Stats&) = default;
};

}  // namespace apiserver::inline v0::storage
