#include "apiserver/base/log.h"

#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "apiserver/base/field_path.h"

namespace apiserver::v0 {
namespace {

class NullSink final : public LogSink {
 public:
  bool Enabled(LogLevel) const override { return false; }
  void Write(LogLevel, std::string_view, std::span<const LogField>) override {}
};

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

class StderrSink final : public LogSink {
 public:
  explicit StderrSink(LogLevel lowest)
      : lowest_(lowest), logger_("apiserver", std::make_shared<spdlog::sinks::stderr_sink_mt>()) {
    logger_.set_level(spdlog::level::trace);
    logger_.set_pattern("%L%m%d %H:%M:%S.%e %v");
  }

  bool Enabled(LogLevel level) const override { return level >= lowest_; }

  void Write(LogLevel level, std::string_view message, std::span<const LogField> fields) override {
    std::string line(message);
    for (const LogField& field : fields) {
      line += ' ';
      line += field.key;
      line += '=';
      line += field::Quote(field.value);
    }
    logger_.log(SpdlogLevel(level), spdlog::string_view_t(line));
  }

 private:
  const LogLevel lowest_;
  spdlog::logger logger_;  // Never registered: spdlog's registry belongs to the host.
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
