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

// Writes events as lines: k8s.io/apiserver/plugin/pkg/audit/log, and the files for them.
namespace apiserver::inline v0::audit {

// The destination of lines. Called by one thread at a time, the backend's; may block.
class LineWriter {
 public:
  virtual ~LineWriter() = default;
  // Writes whole lines, each with its newline.
  virtual Status Write(std::string_view lines) = 0;
};

// Options of a log file, as natefinch/lumberjack, which k8s.io/apiserver uses.
struct RotatingFileOptions {
  std::string path = {};  // Made with mode 0600, its directory with 0700.
  // The size beyond which the file is renamed to "name-2006-01-02T15-04-05.000.ext" (UTC). 0:
  // never.
  std::uint64_t bytes_max = 100 << 20;
  // Older backups, and those beyond the number, are removed when a new one is made. 0: never.
  int max_age_days = 366;
  int max_backups = 100;
  bool compress = false;  // Backups become ".gz".
  FileSystem* files = &RealFileSystem();
  const Clock* clock = &RealClock();
};
// Opens the file at once, so that a path that cannot be written stops the server's start.
Result<std::unique_ptr<LineWriter>> NewRotatingFile(RotatingFileOptions options);

// One JSON object a line, or Kubernetes' legacy text.
enum class LogFormat : std::uint8_t { kJson, kLegacy };

// Options of the log backend.
struct LogBackendOptions {
  LogFormat format = LogFormat::kJson;
  // Holds each request until its first event is written. Otherwise requests are held only while
  // more than `held_bytes` wait for the writer.
  bool strict = false;
  std::size_t held_bytes = 1 << 20;
  // The most bytes that wait for a slow writer: events over it are dropped and counted.
  std::size_t waiting_bytes_max = 64 << 20;
};
// Writes on a thread of its own: the events of 2 ms in one piece, or at once if a request is held.
BackendPtr NewLogBackend(std::unique_ptr<LineWriter> writer, LogBackendOptions options = {});

}  // namespace apiserver::inline v0::audit
