#pragma once

#include <optional>

#include "apiserver/base/trace.h"
#include "apiserver/http/headers.h"

// W3C Trace Context in a message's headers: traceparent and tracestate.
namespace apiserver::inline v0::http {

// Returns the span that sent a message. nullopt: the headers are absent or malformed.
std::optional<trace::SpanContext> ReadTraceHeaders(const Headers& headers);
// Sets the headers for `context`, which must be valid. Replaces earlier ones.
void WriteTraceHeaders(const trace::SpanContext& context, Headers& headers);

}  // namespace apiserver::inline v0::http
