#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/function.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"

namespace apiserver::inline v0 {

// Where WatchedFiles gets everything from. All outlive it.
struct WatchedFilesDeps {
  FileSystem& files;
  Executor& executor;  // Reads there: must be one that may block.
  const Clock& clock = RealClock();
  LogSink& log = NullLogSink();
  // Told each time that a look cannot read a file, before Check() returns; as `use`, not called
  // once the watch has ended.
  std::function<void(const Status&)> unreadable = {};
};

// Files that may be replaced while a server runs (a certificate and its key, a token, a CA bundle).
// They are read together every `period`; when one has changed, `use` gets the contents of all, in
// the order of the paths. If a file cannot be read or `use` returns an error, what was in use stays
// in use, and the next change is tried again. Methods may be called from any thread.
class WatchedFiles {
 public:
  using Use = UniqueFunction<Status(const std::vector<std::string>& contents)>;

  // Stops; `use` neither runs nor will afterwards. Not to be called by `use`.
  virtual ~WatchedFiles() = default;

  // Looks now, on the calling thread, rather than at the next period. Says what is wrong, if
  // anything is; files that did not change are right if they were.
  virtual Status Check() = 0;
  // When `use` last took contents.
  virtual Clock::Wall used_at() const = 0;
};

// Reads the files and has them used before it returns: an error means that there is nothing to
// watch. `period` must be positive.
Result<std::unique_ptr<WatchedFiles>> WatchFiles(std::vector<std::string> paths,
                                                 std::chrono::nanoseconds period,
                                                 WatchedFilesDeps deps, WatchedFiles::Use use);

}  // namespace apiserver::inline v0
