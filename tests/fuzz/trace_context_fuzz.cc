#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/trace.h"
#include "require.h"

// The first line is a traceparent, the rest a tracestate. What is taken is the same when it is
// written and read again.
namespace {

namespace trace = apiserver::trace;
using apiserver_fuzz::Require;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  if (const auto context = trace::ParseTraceparent(text.substr(0, line))) {
    Require(context->valid());
    const std::string written = trace::FormatTraceparent(*context);
    Require(written.size() == 55 && trace::ParseTraceparent(written) == *context);
  }
  if (line == std::string_view::npos) return 0;
  if (const auto state = trace::ParseTracestate(text.substr(line + 1))) {
    Require(state->size() <= text.size());
    Require(trace::ParseTracestate(*state) == *state);
  }
  return 0;
}
