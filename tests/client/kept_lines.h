#pragma once

#include <span>
#include <string>
#include <string_view>

#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::testing {

// Keeps the texts of log lines.
class KeptLines final : public LogSink {
 public:
  bool Enabled(LogLevel /*level*/) const override { return true; }
  void Write(LogLevel /*level*/, std::string_view message,
             std::span<const LogField> fields) override {
    std::string line(message);
    for (const LogField& field : fields) line.append(" ").append(field.key) += "=" + field.value;
    text.Lock()->append(line + "\n");
  }
  bool Has(const std::string& part) const { return text.Lock()->find(part) != std::string::npos; }

  Guarded<std::string> text;
};

}  // namespace apiserver::inline v0::testing
