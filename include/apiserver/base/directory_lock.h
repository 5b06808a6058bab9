#pragma once

#include <memory>
#include <string>

#include "apiserver/base/status.h"

namespace apiserver::inline v0 {

// Reserves a directory for one process while the object lives. The kernel drops the lock when the
// process ends, however it ends, so a leftover file blocks no start.
class DirectoryLock {
 public:
  virtual ~DirectoryLock() = default;
};

// Locks `directory`, which must exist, by the file "lock" in it. Does not wait. kConflict: another
// process, or this one, holds the lock. kInternalError: the file cannot be made or locked.
Result<std::unique_ptr<DirectoryLock>> LockDirectory(const std::string& directory);

}  // namespace apiserver::inline v0
