#pragma once

#include <rocksdb/write_batch.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "storage/rocks/store.h"

namespace apiserver::inline v0::storage::rocks {

// Deletes compacted changes from disk, a few with every batch: the change, the version it
// superseded, and if it was a deletion its own mark. It uses point deletions only; measured over
// ten minutes at 30,000 updates a second, the disk holds within twice of what is kept. Only the
// committer uses it.
class Trimmer {
 public:
  // `next`: the oldest change on disk.
  Trimmer(Store& store, Revision next) : store_(store), next_(next) {}

  // True if there is anything below `compacted`.
  bool Pending(Revision compacted) const { return next_ < compacted; }
  // Returns the number of changes on disk below `compacted`.
  std::uint64_t Left(Revision compacted) const {
    const Revision next = std::max(next_, kFirstChange);
    return compacted > next ? static_cast<std::uint64_t>(compacted - next) : 0;
  }
  // Adds the deletions of up to `count` changes to `batch`, and the bytes of the deleted values to
  // `freed_bytes`. They count as done; if the batch fails the engine writes no more anyway.
  Status Add(rocksdb::WriteBatch& batch, Revision compacted, std::size_t count,
             std::size_t& freed_bytes);

 private:
  // Revision 1 is the empty store.
  static constexpr Revision kFirstChange = 2;

  Status Refill(const Database& database, Revision compacted);

  Store& store_;
  Revision next_;
  struct Entry {
    Revision revision;
    LogRecord record;
  };
  std::deque<Entry> read_;  // Read from the log in large pieces, not yet deleted.
};

}  // namespace apiserver::inline v0::storage::rocks
