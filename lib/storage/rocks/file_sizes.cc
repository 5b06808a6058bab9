#include "storage/rocks/file_sizes.h"

#include <charconv>
#include <cstdint>
#include <string_view>
#include <vector>

namespace apiserver::v0::storage::rocks {
namespace {

// Returns the number of a log, such as "000123.log". Zero: it is another file.
std::uint64_t LogNumberOf(std::string_view name) {
  if (!name.ends_with(".log")) return 0;
  std::uint64_t number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return number;
}

}  // namespace

// Tables and logs that RocksDB needs no more are about to be deleted, so that they do not count.
void FileSizes::Measure(rocksdb::DB& db) {
  std::vector<rocksdb::Env::FileAttributes> files;
  if (!db.GetEnv()->GetChildrenFileAttributes(db.GetName(), &files).ok()) return;
  std::uint64_t tables = 0;
  std::uint64_t first_log = 0;
  (void)db.GetAggregatedIntProperty(rocksdb::DB::Properties::kLiveSstFilesSize, &tables);
  (void)db.GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &first_log);
  std::size_t bytes = tables;
  for (const auto& file : files) {
    if (file.name.ends_with(".sst")) continue;
    const std::uint64_t log = LogNumberOf(file.name);
    if (log == 0 || log >= first_log) bytes += file.size_bytes;
  }
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
