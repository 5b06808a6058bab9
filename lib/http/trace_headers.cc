#include "apiserver/http/trace_headers.h"

#include <string>

namespace apiserver::v0::http {

namespace {

constexpr const char* kTraceparent = "traceparent";
constexpr const char* kTracestate = "tracestate";

}  // namespace

std::optional<trace::SpanContext> ReadTraceHeaders(const Headers& headers) {
  if (!headers.Has(kTraceparent)) return std::nullopt;
  // Two of them are ambiguous.
  const auto parents = headers.GetAll(kTraceparent);
  if (parents.size() != 1) return std::nullopt;
  auto context = trace::ParseTraceparent(parents.front());
  if (!context) return std::nullopt;
  std::string state;
  for (const std::string_view line : headers.GetAll(kTracestate)) {
    if (!state.empty()) state += ',';
    state += line;
  }
  context->state = trace::ParseTracestate(state).value_or("");
  return context;
}

void WriteTraceHeaders(const trace::SpanContext& context, Headers& headers) {
  headers.Set(kTraceparent, trace::FormatTraceparent(context));
  if (context.state.empty()) {
    (void)headers.Remove(kTracestate);
  } else {
    headers.Set(kTracestate, context.state);
  }
}

}  // namespace apiserver::v0::http
