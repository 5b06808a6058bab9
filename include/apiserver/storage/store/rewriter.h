#pragma once

#include <cstdint>

// Rewrites stored values that would be written in another way now: encrypted with an older key, or
// in another version than the storage version. Go has no such part; a StorageVersionMigration is
// what does it there.
namespace apiserver::inline v0::storage::store {

// Counts the values of a run.
struct RewriteCounts {
  std::uint64_t looked_at = 0;   // Values that were read, some of them more than once.
  std::uint64_t rewritten = 0;   // Values that were stale and are no longer.
  std::uint64_t unreadable = 0;  // Values that cannot be read, whose key is lost, say; left alone.
  std::uint64_t failed = 0;      // Stale values whose write was refused; left alone.

  friend bool operator==(const RewriteCounts&, const RewriteCounts&) = default;
};

}  // namespace apiserver::inline v0::storage::store
