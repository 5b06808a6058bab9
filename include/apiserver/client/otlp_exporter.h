#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/trace.h"
#include "apiserver/client/http_client.h"
#include "apiserver/client/webhook.h"

// Spans to an OpenTelemetry collector: OTLP over HTTP with JSON bodies
// (https://opentelemetry.io/docs/specs/otlp/). Go's servers speak OTLP over gRPC instead.
namespace apiserver::inline v0::client {

struct OtlpExporterOptions {
  std::shared_ptr<HttpClient> client = nullptr;  // Required; not a traced one.
  std::string url = {};                          // Required: "http://localhost:4318/v1/traces".
  http::Headers headers = {};                    // Beside Content-Type and Accept.
  // Who tells it: {"service.name", "apiserver"}.
  std::vector<trace::Attribute> resource = {};

  // What waits to be sent; over it spans are dropped and counted.
  std::size_t queue_spans_max = 2048;
  std::size_t queue_bytes_max = 16 << 20;
  // Of one request; so many are sent at once, fewer after `batch_delay`.
  std::size_t batch_spans_max = 512;
  std::chrono::milliseconds batch_delay = std::chrono::seconds(5);
  // Of one attempt.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  // A batch is sent again after 429, 502, 503, 504 and where there was no answer, not before a
  // Retry-After (up to 30 s); then it is dropped and counted.
  Backoff backoff = {.duration = std::chrono::seconds(5), .factor = 1.5, .jitter = 0.5, .steps = 5};

  // Where batches are made; outlives it. Null: a thread of its own.
  Executor* executor = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();                         // Outlives the calls that it makes.
  std::shared_ptr<metrics::Registry> metrics = nullptr;  // Null: one of its own.
};

// One request is under way at a time. What is left when it is destroyed is dropped: Flush() first.
std::shared_ptr<trace::SpanProcessor> NewOtlpExporter(const OtlpExporterOptions& options);

}  // namespace apiserver::inline v0::client
