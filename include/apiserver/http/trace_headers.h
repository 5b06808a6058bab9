#pragma once

#include <optional>

#include "apiserver/base/trace.h"
#include "apiserver/http/headers.h"

// W3C Trace Context in a message's headers: traceparent and tracestate.
namespace apiserver::inline v0::http {

// The span that a message was sent by; nullopt: it does not say, or not properly.
std::optional<trace::SpanContext> ReadTraceHeaders(const Headers& headers);
// Replaces what is there; `context` is valid.
void WriteTraceHeaders(const trace::SpanContext& context, Headers& headers);

}  // namespace apiserver::inline v0::http
