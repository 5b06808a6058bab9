#include "apiserver/base/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

#include "base/status_macros.h"

namespace apiserver::v0 {
namespace {

Status ErrnoStatus(std::string_view operation, const std::string& path, int error) {
  // A path below a file (ENOTDIR) is as good as missing.
  const bool missing = error == ENOENT || error == ENOTDIR;
  std::string message(operation);
  message += ' ';
  message += path;
  message += ": ";
  message += std::generic_category().message(error);
  return {missing ? Reason::kNotFound : Reason::kInternalError, std::move(message)};
}

// Owns a file descriptor. Negative: the call that should have opened it failed.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// 0 or errno.
int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string ParentOf(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Makes a rename or a new entry survive a power cut.
Status SyncDirectory(const std::string& path) {
  const Descriptor directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return ErrnoStatus("open", path, errno);
  // EINVAL: a file system whose directories cannot be synced.
  if (fsync(directory.get()) != 0 && errno != EINVAL) return ErrnoStatus("sync", path, errno);
  return {};
}

// Writes a new file beside `path`; the caller renames or removes it.
Result<std::string> WriteTemporary(const std::string& path, std::string_view bytes, mode_t mode) {
  std::string name = path + ".XXXXXX";
  const Descriptor file(mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0) return ErrnoStatus("create", name, errno);
  int error = fchmod(file.get(), mode) != 0 ? errno : 0;  // Exactly, whatever the umask.
  if (error == 0) error = WriteAll(file.get(), bytes);
  // The bytes must be on disk before a rename makes the file visible.
  if (error == 0 && fsync(file.get()) != 0) error = errno;
  if (error == 0) return name;
  unlink(name.c_str());
  return ErrnoStatus("write", name, error);
}

class MachineAppendFile final : public AppendFile {
 public:
  MachineAppendFile(int fd, std::string path, std::uint64_t size)
      : file_(fd), path_(std::move(path)), size_(size) {}

  Status Append(std::string_view bytes) override {
    if (const int error = WriteAll(file_.get(), bytes); error != 0) {
      return ErrnoStatus("write", path_, error);
    }
    size_ += bytes.size();
    return {};
  }
  std::uint64_t size() const override { return size_; }

 private:
  Descriptor file_;
  std::string path_;
  std::uint64_t size_;
};

class MachineFileSystem final : public FileSystem {
 public:
  Result<std::string> Read(const std::string& path) const override {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return ErrnoStatus("open", path, errno);
    // Read to its end instead of by its size, which is 0 for files of /proc and may change
    // meanwhile.
    constexpr std::size_t kChunk = 16384;
    std::string out;
    while (true) {
      const std::size_t size = out.size();
      out.resize(size + kChunk);
      const ssize_t got = read(file.get(), out.data() + size, kChunk);
      if (got < 0 && errno != EINTR) return ErrnoStatus("read", path, errno);
      out.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
      if (got == 0) return out;
    }
  }

  Result<std::string> ReadRange(const std::string& path, std::uint64_t offset,
                                std::size_t bytes_max) const override {
    const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return ErrnoStatus("open", path, errno);
    std::string out(bytes_max, '\0');
    std::size_t size = 0;
    while (size < bytes_max) {
      const ssize_t got =
          pread(file.get(), out.data() + size, bytes_max - size, static_cast<off_t>(offset + size));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return ErrnoStatus("read", path, errno);
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    out.resize(size);
    return out;
  }

  Result<std::unique_ptr<AppendFile>> OpenAppend(const std::string& path, unsigned mode) override {
    // O_EXCL tells a new file, which gets `mode`, from an old one, which keeps its own.
    constexpr int kFlags = O_WRONLY | O_APPEND | O_CLOEXEC;
    int fd = open(path.c_str(), kFlags | O_CREAT | O_EXCL, mode);
    if (fd >= 0) {
      (void)fchmod(fd, mode);  // Exactly, whatever the umask.
    } else if (errno == EEXIST) {
      fd = open(path.c_str(), kFlags);
    }
    if (fd < 0) return ErrnoStatus("open", path, errno);
    const off_t size = lseek(fd, 0, SEEK_END);  // -1: a pipe or a terminal.
    return std::make_unique<MachineAppendFile>(fd, path,
                                               size < 0 ? 0 : static_cast<std::uint64_t>(size));
  }

  Status Rename(const std::string& from, const std::string& to) override {
    if (rename(from.c_str(), to.c_str()) != 0) return ErrnoStatus("rename", from, errno);
    return {};
  }

  Result<std::vector<std::string>> List(const std::string& directory) const override {
    DIR* const open_directory = opendir(directory.c_str());
    if (open_directory == nullptr) return ErrnoStatus("open", directory, errno);
    std::vector<std::string> names;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): not on a stream of one's own
    while (const dirent* entry = readdir(open_directory)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    closedir(open_directory);
    std::sort(names.begin(), names.end());
    return names;
  }

  // After a crash at any point the path holds the old bytes or the new ones, never a part.
  Status WriteAtomically(const std::string& path, std::string_view bytes, unsigned mode) override {
    ASSIGN_OR_RETURN(const std::string temporary, WriteTemporary(path, bytes, mode));
    if (rename(temporary.c_str(), path.c_str()) != 0) {
      const int error = errno;
      unlink(temporary.c_str());
      return ErrnoStatus("rename", path, error);
    }
    return SyncDirectory(ParentOf(path));
  }

  Status MakeDirectories(const std::string& path, unsigned mode) override {
    // The search begins behind the first character: the root of an absolute path exists.
    for (std::size_t end = 0; end != std::string::npos;) {
      end = path.find('/', end + 1);
      const std::string prefix = path.substr(0, end);
      if (mkdir(prefix.c_str(), mode) == 0) continue;
      // Another process may have made the directory meanwhile.
      const int error = errno;
      struct stat found {};
      const bool is_directory = stat(prefix.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
      if (!is_directory) return ErrnoStatus("mkdir", prefix, error);
    }
    return {};
  }

  bool Exists(const std::string& path) const override { return access(path.c_str(), F_OK) == 0; }

  Status Remove(const std::string& path) override {
    if (std::remove(path.c_str()) != 0) return ErrnoStatus("remove", path, errno);
    return {};
  }
};

}  // namespace

FileSystem& RealFileSystem() {
  static MachineFileSystem files;
  return files;
}

}  // namespace apiserver::v0
