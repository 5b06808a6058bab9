#pragma once

#include <rocksdb/db.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"
#include "apiserver/storage/rocks/engine.h"
#include "storage/rocks/file_sizes.h"
#include "storage/rocks/layout.h"

namespace apiserver::inline v0::storage::rocks {

// The open RocksDB: its column families, its settings, its errors in our words. Any thread may use
// it; writes come from one.
class Database {
 public:
  // Opens the database over the files of `env`, which must outlive it. `on_failure` is called when
  // RocksDB's own work fails (a flush, a compaction): background_error() then has the reason. It is
  // called on one of RocksDB's threads and must not block.
  static Result<std::unique_ptr<Database>> Open(const Options& options, rocksdb::Env& env,
                                                std::function<void()> on_failure = nullptr);
  static Result<std::unique_ptr<Database>> Open(const Options& options) {
    return Open(options, *rocksdb::Env::Default());
  }
  // Opens a store that exists to read it; writes no file and takes no lock. Null: the directory is
  // empty, and Open() would make a store.
  static Result<std::unique_ptr<Database>> OpenReadOnly(const Options& options, rocksdb::Env& env);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  rocksdb::ColumnFamilyHandle* meta() const { return families_[0]; }
  rocksdb::ColumnFamilyHandle* data() const { return families_[1]; }
  rocksdb::ColumnFamilyHandle* log() const { return families_[2]; }

  // Checks that the directory can be written to and has room for the log to be read again.
  Status Probe() const;
  // True if it was empty when it was opened.
  bool fresh() const { return fresh_; }
  // Returns the reason why RocksDB takes no more writes, or will soon take none; OK: it does.
  Status background_error() const;

  // Writes all of `batch` or nothing. Returns once it is on disk if `sync`; else it is there no
  // later than the next synced one.
  Status Write(rocksdb::WriteBatch& batch, bool sync);

  // Returns the bytes of its files.
  std::size_t file_bytes() const { return sizes_->bytes(); }

  // Returns the number under a meta key; `absent` if there is none.
  Result<std::uint64_t> Number(std::string_view key, std::uint64_t absent) const;
  // Returns a version of a key. kNotFound: it is not there (any more).
  Result<kv::KeyValue> Version(std::string_view key, Revision revision) const;
  // Returns an iterator over the present contents. `upper`: keys are below it; must outlive the
  // iterator. Empty: no bound.
  std::unique_ptr<rocksdb::Iterator> Iterate(rocksdb::ColumnFamilyHandle* family,
                                             const rocksdb::Slice* upper = nullptr) const;

 private:
  class FailureListener;

  explicit Database(std::string path) : path_(std::move(path)) {}

  const std::string path_;
  bool fresh_ = true;
  std::shared_ptr<FailureListener> listener_;
  const std::shared_ptr<FileSizes> sizes_ = std::make_shared<FileSizes>();
  std::unique_ptr<rocksdb::DB> db_;
  std::vector<rocksdb::ColumnFamilyHandle*> families_;
};

inline std::string_view View(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
inline rocksdb::Slice SliceOf(std::string_view view) { return {view.data(), view.size()}; }

// Translates an error of RocksDB into kInternalError; `doing` tells the operation.
Status FromRocks(const rocksdb::Status& status, std::string_view doing);
Status NewCorruptError(std::string_view what);
// Decodes a version from its bytes; the caller sets the key.
Result<kv::KeyValue> DecodeVersion(std::string_view bytes, Revision revision);

}  // namespace apiserver::inline v0::storage::rocks
