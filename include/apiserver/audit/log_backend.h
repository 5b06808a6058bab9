#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/audit/backend.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

// Events as lines: k8s.io/apiserver/plugin/pkg/audit/log, and the files they are written to.
namespace apiserver::inline v0::audit {

// Where lines go. One thread at a time; may block.
class LineWriter {
 public:
  virtual ~LineWriter() = default;
  // Whole lines, each with its newline.
  virtual Status Write(std::string_view lines) = 0;
};

// As natefinch/lumberjack, which k8s.io/apiserver uses.
struct RotatingFileOptions {
  std::string path = {};  // Made with mode 0600, its directory with 0700.
  // A file that would grow beyond it becomes "name-2006-01-02T15-04-05.000.ext" (UTC); 0: never.
  std::uint64_t bytes_max = 100 << 20;
  // Backups that are older, or more, are removed when a new one is made; 0: never.
  int max_age_days = 366;
  int max_backups = 100;
  bool compress = false;  // Backups become ".gz".
  FileSystem* files = &RealFileSystem();
  const Clock* clock = &RealClock();
};
// Opens the file, so that a path that cannot be written stops the start.
Result<std::unique_ptr<LineWriter>> NewRotatingFile(RotatingFileOptions options);

enum class LogFormat : std::uint8_t { kJson, kLegacy };

struct LogBackendOptions {
  LogFormat format = LogFormat::kJson;
  // Requests are held until their first event is written; else only while more than `held_bytes`
  // wait for the writer.
  bool strict = false;
  std::size_t held_bytes = 1 << 20;
  // More than this waits for no writer, however slow: events over it are dropped and counted.
  std::size_t waiting_bytes_max = 64 << 20;
};
// Writes on a thread of its own, in one piece what has come within 2 ms, or at once if a request is
// held.
BackendPtr NewLogBackend(std::unique_ptr<LineWriter> writer, LogBackendOptions options = {});

}  // namespace apiserver::inline v0::audit
