#include "apiserver/base/verbosity.h"

namespace apiserver::v0 {
namespace {

// The level at which Kubernetes' conventions for -v put debugging.
constexpr std::uint32_t kDebugFrom = 4;

}  // namespace

bool VerbositySink::Enabled(LogLevel level) const {
  return (level != LogLevel::kDebug || verbosity_ >= kDebugFrom) && to_.Enabled(level);
}

void VerbositySink::Write(LogLevel level, std::string_view message,
                          std::span<const LogField> fields) {
  if (Enabled(level)) to_.Write(level, message, fields);
}

}  // namespace apiserver::v0
