#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "apiserver/base/log.h"

namespace apiserver::inline v0 {

// Filters log lines by a verbosity, klog's -v, which may change while other threads log: below 4 it
// passes everything but debug lines, from 4 on those too. Lines that the sink behind it does not
// want stay dropped. That sink must outlive this one. All methods may be called from any thread.
class VerbositySink final : public LogSink {
 public:
  // Passes lines on to `to`.
  explicit VerbositySink(LogSink& to, std::uint32_t verbosity = 0)
      : to_(to), verbosity_(verbosity) {}

  bool Enabled(LogLevel level) const override;
  void Write(LogLevel level, std::string_view message, std::span<const LogField> fields) override;

  // Takes effect with the next line.
  void SetVerbosity(std::uint32_t verbosity) { verbosity_ = verbosity; }
  std::uint32_t verbosity() const { return verbosity_; }

 private:
  LogSink& to_;
  std::atomic<std::uint32_t> verbosity_;
};

}  // namespace apiserver::inline v0
