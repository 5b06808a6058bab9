#pragma once

#include <rocksdb/db.h>
#include <rocksdb/listener.h>

#include <atomic>
#include <cstddef>

namespace apiserver::inline v0::storage::rocks {

// The bytes of a database's files. They are counted when tables have been written or merged, on
// RocksDB's threads, since reading a folder may block; between that the log grows by what is
// written. Any thread.
class FileSizes final : public rocksdb::EventListener {
 public:
  // Returns the bytes as far as they are known. Does not block.
  std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
  // Counts the files of `db`. If its folder cannot be read, the last count stays.
  void Measure(rocksdb::DB& db);
  // Adds what has been written to the log.
  void Grow(std::size_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }

  void OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& flushed) override;
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& merged) override;

 private:
  std::atomic<std::size_t> bytes_ = 0;
};

}  // namespace apiserver::inline v0::storage::rocks
