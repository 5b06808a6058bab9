#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "apiserver/base/log.h"

namespace apiserver::inline v0 {

// Passes on what its verbosity asks for, klog's -v, which may change while others log: below 4
// everything but debug lines, from 4 on those too. What the sink behind it does not want stays
// dropped. That sink must outlive this one; any thread.
class VerbositySink final : public LogSink {
 public:
  explicit VerbositySink(LogSink& to, std::uint32_t verbosity = 0)
      : to_(to), verbosity_(verbosity) {}

  bool Enabled(LogLevel level) const override;
  void Write(LogLevel level, std::string_view message, std::span<const LogField> fields) override;

  void SetVerbosity(std::uint32_t verbosity) { verbosity_ = verbosity; }
  std::uint32_t verbosity() const { return verbosity_; }

 private:
  LogSink& to_;
  std::atomic<std::uint32_t> verbosity_;
};

}  // namespace apiserver::inline v0
