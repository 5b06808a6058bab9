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

// The services that WatchedFiles uses. All outlive it.
struct WatchedFilesDeps {
  FileSystem& files;
  Executor& executor;  // Files are read there: it must be one that may block.
  const Clock& clock = RealClock();
  LogSink& log = NullLogSink();
  // Called each time that a check cannot read a file, before Check() returns, on the thread that
  // checks; may block. Not called once the watch has ended. Empty: not called.
  std::function<void(const Status&)> unreadable = {};
};

// Watches files that may be replaced while a server runs (a certificate and its key, a token, a CA
// bundle). They are read together every `period`. When one has changed, `use` gets the contents of
// all, in the order of the paths. If a file cannot be read or `use` returns an error, the contents
// in use stay in use, and the next change is tried again. Methods may be called from any thread.
class WatchedFiles {
 public:
  // Called on the executor's thread, or on the one that calls Check() or WatchFiles(); one call at
  // a time, without a lock; may block. An exception counts as kInternalError.
  using Use = UniqueFunction<Status(const std::vector<std::string>& contents)>;

  // Stops and waits: afterwards `use` neither runs nor will. Not to be called by `use`.
  virtual ~WatchedFiles() = default;

  // Checks the files now, on the calling thread, rather than at the next period, and returns what
  // is wrong. Files that have not changed get the answer they got before.
  virtual Status Check() = 0;
  // The time at which `use` last accepted contents.
  virtual Clock::Wall used_at() const = 0;
};

// Starts to watch. Reads the files and calls `use` before it returns: an error means that nothing
// is watched. `period` must be positive.
Result<std::unique_ptr<WatchedFiles>> WatchFiles(std::vector<std::string> paths,
                                                 std::chrono::nanoseconds period,
                                                 WatchedFilesDeps deps, WatchedFiles::Use use);

}  // namespace apiserver::inline v0
