#include "storage/rocks/database.h"

#include <rocksdb/env.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/listener.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "storage/rocks/log_tail.h"

namespace apiserver::v0::storage::rocks {
namespace {

// The bytes that opening writes beside the log: a table, a manifest.
constexpr std::uint64_t kRoomToOpen = std::uint64_t{1} << 20;

rocksdb::DBOptions DatabaseOptions(const Options& options, rocksdb::Env& env) {
  rocksdb::DBOptions db;
  db.env = &env;
  db.create_if_missing = true;
  db.max_background_jobs = 2;
  db.allow_concurrent_memtable_write = false;  // There is one writer, so this saves its locks.
  db.max_total_wal_size = 4 * options.write_buffer_bytes;
  // An incomplete last record was never acknowledged; damage anywhere else is an error. RocksDB's
  // default would silently drop all that follows it.
  db.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  db.max_log_file_size = 1 << 20;  // The file that RocksDB logs its own work to.
  db.keep_log_file_num = 2;
  db.stats_dump_period_sec = 0;
  db.max_open_files = 512;
  return db;
}

// Range deletion, a compressed WAL and atomic_flush are not used: 7.8.3 has known faults in them.
rocksdb::ColumnFamilyOptions FamilyOptions(std::size_t buffer_bytes,
                                           const std::shared_ptr<rocksdb::Cache>& cache) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = cache;
  table.block_size = 16 << 10;
  table.format_version = 5;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  rocksdb::ColumnFamilyOptions family;
  family.write_buffer_size = buffer_bytes;
  family.max_write_buffer_number = 3;
  // New data will soon be superseded; only settled data is worth compressing.
  family.compression = rocksdb::kNoCompression;
  family.bottommost_compression = rocksdb::kLZ4Compression;
  family.level_compaction_dynamic_level_bytes = true;
  // As many tables as make a level of `max_bytes_for_level_base`, so that merging them rewrites no
  // more than they hold.
  family.level0_file_num_compaction_trigger = 8;
  family.target_file_size_base = 16 << 20;
  family.max_bytes_for_level_base = 64 << 20;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  return family;
}

// The column families in the order of Database::families_.
std::vector<rocksdb::ColumnFamilyDescriptor> Families(const Options& options) {
  const auto cache = rocksdb::NewLRUCache(options.block_cache_bytes);
  const std::size_t buffer = options.write_buffer_bytes;
  return {{rocksdb::kDefaultColumnFamilyName, FamilyOptions(1 << 20, cache)},
          {"data", FamilyOptions(buffer, cache)},
          {"log", FamilyOptions(buffer / 4, cache)}};
}

// RocksDB would write its own log into the directory of a store that is only read.
class NoLog final : public rocksdb::Logger {
 public:
  using rocksdb::Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
};

// Makes `path` and its missing parents, so that a power cut cannot take them away again.
rocksdb::Status CreateDirectories(rocksdb::Env& env, const std::string& path) {
  if (env.FileExists(path).ok()) return rocksdb::Status::OK();
  const std::string parent = std::filesystem::path(path).parent_path();
  if (!parent.empty() && parent != path) {
    rocksdb::Status made = CreateDirectories(env, parent);
    if (!made.ok()) return made;
  }
  rocksdb::Status status = env.CreateDirIfMissing(path);
  if (!status.ok()) return status;
  std::unique_ptr<rocksdb::Directory> directory;
  status = env.NewDirectory(parent.empty() ? "." : parent, &directory);
  return status.ok() ? directory->Fsync() : status;
}

// True if nothing was ever written: a first opening makes its families before that, and may have
// been interrupted.
bool IsFresh(rocksdb::Env& env, const std::string& path) {
  std::vector<rocksdb::Env::FileAttributes> files;
  if (!env.GetChildrenFileAttributes(path, &files).ok()) return true;
  return std::none_of(files.begin(), files.end(), [](const auto& file) {
    return file.name.ends_with(".sst") || (file.name.ends_with(".log") && file.size_bytes > 0);
  });
}

Status OpenError(const std::string& path, const rocksdb::Status& status) {
  const std::string text = status.ToString();
  if (status.IsIOError() && text.find("lock") != std::string::npos) {
    return Status(Reason::kServiceUnavailable,
                  "the store in " + path + " is in use: another process holds " + path + "/LOCK");
  }
  if (status.IsInvalidArgument() && text.find("olumn famil") != std::string::npos) {
    return Status(Reason::kInternalError,
                  "the store in " + path + " was written by a newer version: " + text);
  }
  return FromRocks(status, "open the store in " + path);
}

}  // namespace

// Receives the failures of RocksDB's own threads.
class Database::FailureListener final : public rocksdb::EventListener {
 public:
  explicit FailureListener(std::function<void()> on_failure) : on_failure_(std::move(on_failure)) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason /*reason*/,
                         rocksdb::Status* status) override {
    {
      auto error = error_.Lock();
      if (error->ok()) *error = FromRocks(*status, "write to the store");
    }
    if (on_failure_) on_failure_();
  }
  // Refuses RocksDB's own recovery: it would go on with a new log and leave the failed write in the
  // old one, where a later opening may find it for some column families and not for others. The
  // committer opens the database anew instead.
  void OnErrorRecoveryBegin(rocksdb::BackgroundErrorReason /*reason*/, rocksdb::Status /*status*/,
                            bool* auto_recovery) override {
    *auto_recovery = false;
  }
  Status error() const { return *error_.Lock(); }

 private:
  const std::function<void()> on_failure_;
  Guarded<Status> error_;
};

Status FromRocks(const rocksdb::Status& status, std::string_view doing) {
  std::string text = "cannot " + std::string(doing) + ": " + status.ToString();
  if (status.IsNoSpace()) {
    text += "; free space on its disk";
  } else if (status.IsCorruption()) {
    text += "; the store is damaged: check its disk and restore it from a backup";
  } else {
    text += "; check its disk and the permissions of its directory";
  }
  return Status(Reason::kInternalError, std::move(text));
}

Status NewCorruptError(std::string_view what) {
  return Status(Reason::kInternalError, "the store is damaged: " + std::string(what));
}

Result<std::unique_ptr<Database>> Database::Open(const Options& options, rocksdb::Env& env,
                                                 std::function<void()> on_failure) {
  if (env.FileExists(options.path).IsNotFound()) {
    const rocksdb::Status made = CreateDirectories(env, options.path);
    if (!made.ok()) return FromRocks(made, "create the directory " + options.path);
    std::error_code ignored;
    std::filesystem::permissions(options.path, std::filesystem::perms::owner_all, ignored);
  }
  RETURN_IF_ERROR(MendNewestLog(env, options.path));
  std::unique_ptr<Database> database(new Database(options.path));
  database->listener_ = std::make_shared<FailureListener>(std::move(on_failure));
  database->fresh_ = IsFresh(env, options.path);
  rocksdb::DBOptions settings = DatabaseOptions(options, env);
  // Otherwise a manifest that has lost its end would pass for an empty store.
  settings.create_missing_column_families = database->fresh_;
  settings.listeners = {database->listener_, database->sizes_};
  rocksdb::DB* db = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::Open(settings, options.path, Families(options), &database->families_, &db);
  database->db_.reset(db);
  if (!status.ok()) return OpenError(options.path, status);
  database->sizes_->Measure(*db);
  return database;
}

Result<std::unique_ptr<Database>> Database::OpenReadOnly(const Options& options,
                                                         rocksdb::Env& env) {
  const bool fresh = IsFresh(env, options.path);
  if (fresh && env.FileExists(options.path + "/CURRENT").IsNotFound()) {
    return std::unique_ptr<Database>();
  }
  rocksdb::DBOptions settings = DatabaseOptions(options, env);
  settings.create_if_missing = false;
  settings.info_log = std::make_shared<NoLog>();
  // Reading is allowed without a family that only a newer version knows; writing is not.
  std::vector<std::string> names;
  rocksdb::Status status = rocksdb::DB::ListColumnFamilies(settings, options.path, &names);
  if (!status.ok()) return OpenError(options.path, status);
  const auto families = Families(options);
  if (names.size() > families.size()) {
    return OpenError(options.path, rocksdb::Status::InvalidArgument("Column families not opened: " +
                                                                    names.back()));
  }
  std::unique_ptr<Database> database(new Database(options.path));
  database->listener_ = std::make_shared<FailureListener>(nullptr);
  database->fresh_ = fresh;
  rocksdb::DB* db = nullptr;
  status =
      rocksdb::DB::OpenForReadOnly(settings, options.path, families, &database->families_, &db);
  database->db_.reset(db);
  if (!status.ok()) return OpenError(options.path, status);
  return database;
}

Database::~Database() {
  for (rocksdb::ColumnFamilyHandle* family : families_) db_->DestroyColumnFamilyHandle(family);
}

Status Database::Probe() const {
  rocksdb::Env& env = *db_->GetEnv();
  const std::string probe = path_ + "/PROBE";
  std::uint64_t room = 0;
  if (env.GetFreeSpace(path_, &room).ok()) {
    std::vector<rocksdb::Env::FileAttributes> files;
    std::uint64_t needed = kRoomToOpen;
    const rocksdb::Status listed = env.GetChildrenFileAttributes(path_, &files);
    if (!listed.ok()) return FromRocks(listed, "read the directory " + path_);
    for (const auto& file : files) {
      if (file.name.ends_with(".log")) needed += file.size_bytes;
    }
    if (room < needed) {
      return FromRocks(rocksdb::Status::NoSpace(std::to_string(room) + " of " +
                                                std::to_string(needed) + " bytes are free"),
                       "write to " + path_);
    }
  }
  rocksdb::Status status = rocksdb::WriteStringToFile(&env, std::string(4096, '\0'), probe, true);
  if (status.ok()) status = env.RenameFile(probe, probe + ".done");
  if (status.ok()) status = env.DeleteFile(probe + ".done");
  return status.ok() ? Status::Ok() : FromRocks(status, "write to " + path_);
}

Status Database::background_error() const { return listener_->error(); }

Status Database::Write(rocksdb::WriteBatch& batch, bool sync) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  const rocksdb::Status status = db_->Write(options, &batch);
  if (status.ok()) sizes_->Grow(batch.GetDataSize());
  return status.ok() ? Status::Ok() : FromRocks(status, "write to the store");
}

Result<std::uint64_t> Database::Number(std::string_view key, std::uint64_t absent) const {
  std::string bytes;
  const rocksdb::Status status = db_->Get({}, meta(), SliceOf(key), &bytes);
  if (status.IsNotFound()) return absent;
  if (!status.ok()) return FromRocks(status, "read the store");
  const auto number = DecodeNumber(bytes);
  if (!number) return NewCorruptError(std::string(key) + " is not a number");
  return *number;
}

Result<kv::KeyValue> Database::Version(std::string_view key, Revision revision) const {
  rocksdb::PinnableSlice bytes;
  const rocksdb::Status status = db_->Get({}, data(), DataKey(key, revision), &bytes);
  if (status.IsNotFound()) return Status(Reason::kNotFound, "no such version");
  if (!status.ok()) return FromRocks(status, "read the store");
  auto version = DecodeVersion(View(bytes), revision);
  if (version.ok()) version->key = key;
  return version;
}

std::unique_ptr<rocksdb::Iterator> Database::Iterate(rocksdb::ColumnFamilyHandle* family,
                                                     const rocksdb::Slice* upper) const {
  rocksdb::ReadOptions options;
  options.iterate_upper_bound = upper;
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, family));
}

Result<kv::KeyValue> DecodeVersion(std::string_view bytes, Revision revision) {
  const auto head = TakeVersionHead(bytes);
  if (!head) return NewCorruptError("a version without its head");
  kv::KeyValue kv;
  kv.mod_revision = revision;
  kv.create_revision = head->create_revision;
  kv.lease = head->lease;
  if (!head->deleted) kv.value = std::make_shared<const std::string>(bytes);
  return kv;
}

}  // namespace apiserver::v0::storage::rocks
