#include "apiserver/base/log.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "apiserver/base/clock.h"
#include "apiserver/base/field_path.h"

namespace apiserver::v0 {
namespace {

class NullSink final : public LogSink {
 public:
  bool Enabled(LogLevel) const override { return false; }
  void Write(LogLevel, std::string_view, std::span<const LogField>) override {}
};

char LetterOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return 'D';
    case LogLevel::kInfo:
      return 'I';
    case LogLevel::kWarning:
      return 'W';
    case LogLevel::kError:
      return 'E';
  }
  return 'E';
}

// The head of klog's lines, in local time: "I1121 05:00:00.123 ".
std::string HeadOf(LogLevel level, Clock::Wall now) {
  const std::time_t seconds = Clock::Wall::clock::to_time_t(now);
  std::tm local{};
  localtime_r(&seconds, &local);
  const auto since = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch());
  std::array<char, 80> text;
  std::snprintf(text.data(), text.size(), "%c%02d%02d %02d:%02d:%02d.%03d ", LetterOf(level),
                local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                static_cast<int>(since.count() % 1000));
  return text.data();
}

class StderrSink final : public LogSink {
 public:
  explicit StderrSink(LogLevel lowest) : lowest_(lowest) {}

  bool Enabled(LogLevel level) const override { return level >= lowest_; }

  void Write(LogLevel level, std::string_view message, std::span<const LogField> fields) override {
    std::string line = HeadOf(level, RealClock().WallNow());
    line += message;
    for (const LogField& field : fields) {
      line += ' ';
      line += field.key;
      line += '=';
      line += field::Quote(field.value);
    }
    line += '\n';
    // One call, so that lines of several threads do not mix.
    (void)std::fwrite(line.data(), 1, line.size(), stderr);
  }

 private:
  const LogLevel lowest_;
};

}  // namespace

void Log(LogSink& sink, LogLevel level, std::string_view message,
         std::initializer_list<LogField> fields) {
  if (sink.Enabled(level)) sink.Write(level, message, {fields.begin(), fields.size()});
}

LogSink& NullLogSink() {
  static NullSink sink;
  return sink;
}

std::unique_ptr<LogSink> NewStderrLogSink(LogLevel lowest) {
  return std::make_unique<StderrSink>(lowest);
}

}  // namespace apiserver::v0
