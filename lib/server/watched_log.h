#pragma once

#include <set>
#include <span>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::server {

// Passes lines on to another sink and tracks the ones that are still being written. Any thread.
class WatchedLog final : public LogSink {
 public:
  // Both must outlive it.
  WatchedLog(LogSink& sink, const Clock& clock) : sink_(sink), clock_(clock) {}

  bool Enabled(LogLevel level) const override { return sink_.Enabled(level); }
  void Write(LogLevel level, std::string_view message, std::span<const LogField> fields) override;

  // Returns the health check "log", as healthz.LogHealthz. kUnknown: a line has been under way for
  // two minutes. Does not block.
  Status Check() const;

 private:
  LogSink& sink_;
  const Clock& clock_;
  // The start times of the writes under way.
  Guarded<std::multiset<Clock::Monotonic>> begun_;
};

}  // namespace apiserver::inline v0::server
