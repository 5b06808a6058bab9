#include "storage/rocks/file_sizes.h"

#include <vector>

namespace apiserver::v0::storage::rocks {

void FileSizes::Measure(rocksdb::DB& db) {
  std::vector<rocksdb::Env::FileAttributes> files;
  if (!db.GetEnv()->GetChildrenFileAttributes(db.GetName(), &files).ok()) return;
  std::size_t bytes = 0;
  for (const auto& file : files) bytes += file.size_bytes;
  bytes_.store(bytes, std::memory_order_relaxed);
}

void FileSizes::OnFlushCompleted(rocksdb::DB* db, const rocksdb::FlushJobInfo& /*flushed*/) {
  Measure(*db);
}

void FileSizes::OnCompactionCompleted(rocksdb::DB* db,
                                      const rocksdb::CompactionJobInfo& /*merged*/) {
  Measure(*db);
}

}  // namespace apiserver::v0::storage::rocks
