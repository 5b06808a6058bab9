#include "faults/disk_file_system.h"

#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace apiserver::inline v0::faults {
namespace {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

IOStatus ToRocks(Error error, const std::string& what) {
  switch (error) {
    case Error::kNone:
      return IOStatus::OK();
    case Error::kIo:
      return IOStatus::IOError(what, "Input/output error");
    case Error::kNoSpace:
      return IOStatus::NoSpace(what, "No space left on device");
    case Error::kReadOnly:
      return IOStatus::IOError(what, "Read-only file system");
    case Error::kNotFound:
      return IOStatus::NotFound(what, "No such file or directory");
    case Error::kOff:
      return IOStatus::IOError(what, "the power is off");
  }
  return IOStatus::OK();
}

class Writable final : public rocksdb::FSWritableFile {
 public:
  Writable(Disk& disk, std::string path, Disk::InodeRef file)
      : disk_(disk), path_(std::move(path)), file_(std::move(file)) {}

  using FSWritableFile::Append;
  IOStatus Append(const Slice& data, const IOOptions& /*options*/,
                  IODebugContext* /*dbg*/) override {
    return ToRocks(disk_.Append(*file_, {data.data(), data.size()}), "append to " + path_);
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& /*options*/,
                    IODebugContext* /*dbg*/) override {
    // On closing RocksDB cuts off what it may have allocated ahead.
    if (size == GetFileSize({}, nullptr)) return IOStatus::OK();
    return ToRocks(disk_.Truncate(*file_, size), "truncate " + path_);
  }
  IOStatus Close(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return ToRocks(disk_.Close(), "close " + path_);
  }
  IOStatus Flush(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return IOStatus::OK();
  }
  IOStatus Sync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return ToRocks(disk_.Sync(*file_), "sync " + path_);
  }
  std::uint64_t GetFileSize(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return disk_.Size(path_).value_or(0);
  }

 private:
  Disk& disk_;
  const std::string path_;
  const Disk::InodeRef file_;
};

IOStatus ReadInto(Disk& disk, const Disk::Inode& file, std::uint64_t offset, std::size_t size,
                  std::pair<Slice*, char*> out) {
  std::string bytes;
  const Error error = disk.Read(file, offset, size, bytes);
  if (error != Error::kNone) return ToRocks(error, "read");
  std::memcpy(out.second, bytes.data(), bytes.size());
  *out.first = Slice(out.second, bytes.size());
  return IOStatus::OK();
}

class Sequential final : public rocksdb::FSSequentialFile {
 public:
  Sequential(Disk& disk, Disk::InodeRef file) : disk_(disk), file_(std::move(file)) {}

  IOStatus Read(std::size_t size, const IOOptions& /*options*/, Slice* result, char* scratch,
                IODebugContext* /*dbg*/) override {
    IOStatus status = ReadInto(disk_, *file_, at_, size, {result, scratch});
    if (status.ok()) at_ += result->size();
    return status;
  }
  IOStatus Skip(std::uint64_t count) override {
    at_ += count;
    return IOStatus::OK();
  }

 private:
  Disk& disk_;
  const Disk::InodeRef file_;
  std::uint64_t at_ = 0;
};

class RandomAccess final : public rocksdb::FSRandomAccessFile {
 public:
  RandomAccess(Disk& disk, Disk::InodeRef file) : disk_(disk), file_(std::move(file)) {}

  IOStatus Read(std::uint64_t offset, std::size_t size, const IOOptions& /*options*/, Slice* result,
                char* scratch, IODebugContext* /*dbg*/) const override {
    return ReadInto(disk_, *file_, offset, size, {result, scratch});
  }

 private:
  Disk& disk_;
  const Disk::InodeRef file_;
};

class Directory final : public rocksdb::FSDirectory {
 public:
  Directory(Disk& disk, std::string path) : disk_(disk), path_(std::move(path)) {}

  IOStatus Fsync(const IOOptions& /*options*/, IODebugContext* /*dbg*/) override {
    return ToRocks(disk_.SyncDirectory(path_), "sync the directory " + path_);
  }

 private:
  Disk& disk_;
  const std::string path_;
};

class NoDiary final : public rocksdb::Logger {
 public:
  using Logger::Logv;
  void Logv(const char* /*format*/, va_list /*arguments*/) override {}
  std::size_t GetLogFileSize() const override { return 0; }
};

class NamedLock final : public rocksdb::FileLock {
 public:
  explicit NamedLock(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

class DiskFileSystem final : public rocksdb::FileSystem {
 public:
  explicit DiskFileSystem(Disk& disk) : disk_(disk) {}

  const char* Name() const override { return "FaultDisk"; }

  IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                             std::unique_ptr<rocksdb::FSSequentialFile>* result,
                             IODebugContext* /*dbg*/) override {
    Disk::InodeRef file;
    const Error error = disk_.Open(path, file);
    if (error == Error::kNone) *result = std::make_unique<Sequential>(disk_, std::move(file));
    return ToRocks(error, "open " + path);
  }
  IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                               std::unique_ptr<rocksdb::FSRandomAccessFile>* result,
                               IODebugContext* /*dbg*/) override {
    Disk::InodeRef file;
    const Error error = disk_.Open(path, file);
    if (error == Error::kNone) *result = std::make_unique<RandomAccess>(disk_, std::move(file));
    return ToRocks(error, "open " + path);
  }
  IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                           std::unique_ptr<rocksdb::FSWritableFile>* result,
                           IODebugContext* /*dbg*/) override {
    Disk::InodeRef file;
    const Error error = disk_.Create(path, file);
    if (error == Error::kNone) *result = std::make_unique<Writable>(disk_, path, std::move(file));
    return ToRocks(error, "create " + path);
  }
  IOStatus ReopenWritableFile(const std::string& path, const rocksdb::FileOptions& /*options*/,
                              std::unique_ptr<rocksdb::FSWritableFile>* result,
                              IODebugContext* /*dbg*/) override {
    Disk::InodeRef file;
    const Error error = disk_.Open(path, file);
    if (error == Error::kNone) *result = std::make_unique<Writable>(disk_, path, std::move(file));
    return ToRocks(error, "open " + path);
  }
  IOStatus NewDirectory(const std::string& path, const IOOptions& /*options*/,
                        std::unique_ptr<rocksdb::FSDirectory>* result,
                        IODebugContext* /*dbg*/) override {
    const std::string name = Clean(path);
    if (!disk_.IsDirectory(name)) return ToRocks(Error::kNotFound, "open " + path);
    *result = std::make_unique<Directory>(disk_, name);
    return IOStatus::OK();
  }
  IOStatus FileExists(const std::string& path, const IOOptions& /*options*/,
                      IODebugContext* /*dbg*/) override {
    return disk_.Exists(Clean(path)) ? IOStatus::OK() : IOStatus::NotFound(path);
  }
  IOStatus GetChildren(const std::string& path, const IOOptions& /*options*/,
                       std::vector<std::string>* result, IODebugContext* /*dbg*/) override {
    if (!disk_.IsDirectory(Clean(path))) return IOStatus::NotFound(path);
    *result = disk_.Children(Clean(path));
    return IOStatus::OK();
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& /*options*/,
                      IODebugContext* /*dbg*/) override {
    return ToRocks(disk_.Delete(path), "delete " + path);
  }
  IOStatus Truncate(const std::string& path, std::size_t size, const IOOptions& /*options*/,
                    IODebugContext* /*dbg*/) override {
    Disk::InodeRef file;
    Error error = disk_.Open(path, file);
    if (error == Error::kNone) error = disk_.Truncate(*file, size);
    return ToRocks(error, "truncate " + path);
  }
  IOStatus CreateDir(const std::string& path, const IOOptions& /*options*/,
                     IODebugContext* /*dbg*/) override {
    return ToRocks(disk_.CreateDirectory(Clean(path)), "create " + path);
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions& /*options*/,
                              IODebugContext* /*dbg*/) override {
    if (disk_.IsDirectory(Clean(path))) return IOStatus::OK();
    return ToRocks(disk_.CreateDirectory(Clean(path)), "create " + path);
  }
  IOStatus DeleteDir(const std::string& path, const IOOptions& /*options*/,
                     IODebugContext* /*dbg*/) override {
    return IOStatus::NotSupported("delete the directory " + path);
  }
  IOStatus GetFileSize(const std::string& path, const IOOptions& /*options*/, std::uint64_t* size,
                       IODebugContext* /*dbg*/) override {
    const auto found = disk_.Size(path);
    if (!found) return IOStatus::NotFound(path);
    *size = *found;
    return IOStatus::OK();
  }
  IOStatus GetFileModificationTime(const std::string& /*path*/, const IOOptions& /*options*/,
                                   std::uint64_t* time, IODebugContext* /*dbg*/) override {
    *time = 0;
    return IOStatus::OK();
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& /*options*/,
                      IODebugContext* /*dbg*/) override {
    return ToRocks(disk_.Rename(from, to), "rename " + from);
  }
  IOStatus LockFile(const std::string& path, const IOOptions& /*options*/, rocksdb::FileLock** lock,
                    IODebugContext* /*dbg*/) override {
    auto held = held_.Lock();
    if (!held->insert(path).second) return IOStatus::IOError("lock " + path, "already held");
    *lock = new NamedLock(path);
    return IOStatus::OK();
  }
  IOStatus UnlockFile(rocksdb::FileLock* lock, const IOOptions& /*options*/,
                      IODebugContext* /*dbg*/) override {
    const std::unique_ptr<NamedLock> taken(static_cast<NamedLock*>(lock));
    held_.Lock()->erase(taken->path());
    return IOStatus::OK();
  }
  IOStatus GetTestDirectory(const IOOptions& /*options*/, std::string* path,
                            IODebugContext* /*dbg*/) override {
    *path = "/";
    return IOStatus::OK();
  }
  IOStatus NewLogger(const std::string& /*path*/, const IOOptions& /*options*/,
                     std::shared_ptr<rocksdb::Logger>* result, IODebugContext* /*dbg*/) override {
    *result = std::make_shared<NoDiary>();
    return IOStatus::OK();
  }
  IOStatus GetAbsolutePath(const std::string& path, const IOOptions& /*options*/,
                           std::string* absolute, IODebugContext* /*dbg*/) override {
    *absolute = path;
    return IOStatus::OK();
  }
  IOStatus IsDirectory(const std::string& path, const IOOptions& /*options*/, bool* is,
                       IODebugContext* /*dbg*/) override {
    *is = disk_.IsDirectory(Clean(path));
    return IOStatus::OK();
  }

 private:
  static std::string Clean(std::string path) {
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    return path;
  }

  Disk& disk_;
  Guarded<std::set<std::string>> held_;
};

}  // namespace

std::unique_ptr<rocksdb::Env> NewDiskEnv(Disk& disk) {
  return rocksdb::NewCompositeEnv(std::make_shared<DiskFileSystem>(disk));
}

}  // namespace apiserver::inline v0::faults
