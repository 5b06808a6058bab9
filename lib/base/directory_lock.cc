#include "apiserver/base/directory_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace apiserver::v0 {
namespace {

class FileLock final : public DirectoryLock {
 public:
  explicit FileLock(int fd) : fd_(fd) {}
  // The file stays: a process that removed it could hold a lock that others do not see.
  ~FileLock() override { close(fd_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  const int fd_;
};

Status Failed(const char* operation, const std::string& path, int error) {
  return {Reason::kInternalError,
          std::string(operation) + " " + path + ": " + std::generic_category().message(error)};
}

}  // namespace

// Takes a flock(2) lock: the kernel drops it when the process dies, and, other than fcntl(2)'s, it
// is not lost when some other descriptor of the file is closed.
Result<std::unique_ptr<DirectoryLock>> LockDirectory(const std::string& directory) {
  const std::string path = directory + "/lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return Failed("open", path, errno);
  // Owned before it is locked, so that every return below closes the descriptor.
  auto lock = std::make_unique<FileLock>(fd);
  if (flock(fd, LOCK_EX | LOCK_NB) == 0) return std::unique_ptr<DirectoryLock>(std::move(lock));
  if (errno != EWOULDBLOCK) return Failed("lock", path, errno);
  return Status(Reason::kConflict, directory + " is used by another process");
}

}  // namespace apiserver::v0
