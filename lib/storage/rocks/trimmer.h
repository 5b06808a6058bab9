#pragma once

#include <rocksdb/write_batch.h>

#include <cstddef>
#include <deque>

#include "storage/rocks/store.h"

namespace apiserver::inline v0::storage::rocks {

// Deletes what compaction has left on disk, a few changes with every batch: the change, the version
// it superseded, and if it was a deletion its own mark. Point deletions only; measured over ten
// minutes at 30,000 updates a second, the disk holds within twice of what is kept. The committer's.
class Trimmer {
 public:
  // `next`: the oldest change on disk.
  Trimmer(Store& store, Revision next) : store_(store), next_(next) {}

  // Whether there is anything below `compacted`.
  bool Pending(Revision compacted) const { return next_ < compacted; }
  // Adds the deletions of up to `count` changes to `batch`, and the bytes of the values that go to
  // `freed_bytes`. They count as done; if the batch fails the engine writes no more anyway.
  Status Add(rocksdb::WriteBatch& batch, Revision compacted, std::size_t count,
             std::size_t& freed_bytes);

 private:
  Status Refill(const Database& database, Revision compacted);

  Store& store_;
  Revision next_;
  struct Entry {
    Revision revision;
    LogRecord record;
  };
  std::deque<Entry> read_;  // Of the log, not yet deleted; so that it is read in large pieces.
};

}  // namespace apiserver::inline v0::storage::rocks
