#include "server/watched_log.h"

#include <chrono>

namespace apiserver::v0::server {
namespace {

constexpr std::chrono::minutes kBlockedAfter(2);

}  // namespace

void WatchedLog::Write(LogLevel level, std::string_view message, std::span<const LogField> fields) {
  const auto entry = begun_.Lock()->insert(clock_.Now());
  sink_.Write(level, message, fields);
  begun_.Lock()->erase(entry);
}

// Upstream flushes its log once a minute to find out. A sink has no flush; a line that hangs in it
// shows the same.
Status WatchedLog::Check() const {
  const auto begun = begun_.Lock();
  if (begun->empty() || clock_.Now() - *begun->begin() < kBlockedAfter) return {};
  return {Reason::kUnknown, "logging blocked"};
}

}  // namespace apiserver::v0::server
