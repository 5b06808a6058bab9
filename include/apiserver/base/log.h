#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace apiserver::inline v0 {

// The severity of a log line, the lowest first.
enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

// A key and its value in a structured log line.
struct LogField {
  std::string_view key;
  std::string value;
};

// The destination of one server's log lines. The host brings its own or takes a default below;
// nothing in the library logs elsewhere. Its methods are called from any thread, loops included,
// must not throw and should not block for long.
class LogSink {
 public:
  virtual ~LogSink() = default;
  // Reports whether Write() would keep a line of this level, so that the caller can avoid composing
  // it.
  virtual bool Enabled(LogLevel level) const = 0;
  // Writes one line. `message` and `fields` are valid during the call only.
  virtual void Write(LogLevel level, std::string_view message,
                     std::span<const LogField> fields) = 0;
};

// Writes `message` and `fields` if `sink` wants that level.
void Log(LogSink& sink, LogLevel level, std::string_view message,
         std::initializer_list<LogField> fields = {});

// A sink that drops everything. Lives as long as the process.
LogSink& NullLogSink();
// A sink that writes text lines to standard error: `I1121 05:00:00.123 message key="value"`.
std::unique_ptr<LogSink> NewStderrLogSink(LogLevel lowest = LogLevel::kInfo);

}  // namespace apiserver::inline v0
