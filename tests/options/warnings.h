#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/log.h"

namespace apiserver::inline v0::testing {

// Keeps the warnings of a log. One thread.
class Warnings final : public LogSink {
 public:
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel level, std::string_view message, std::span<const LogField>) override {
    if (level == LogLevel::kWarning) lines.emplace_back(message);
  }

  std::vector<std::string> lines;
};

}  // namespace apiserver::inline v0::testing
