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

// Sends spans to an OpenTelemetry collector: OTLP over HTTP with JSON bodies
// (https://opentelemetry.io/docs/specs/otlp/). Go's servers speak OTLP over gRPC instead.
namespace apiserver::inline v0::client {

// Options of the exporter.
struct OtlpExporterOptions {
  std::shared_ptr<HttpClient> client = nullptr;  // Required; not a traced one.
  std::string url = {};                          // Required: "http://localhost:4318/v1/traces".
  http::Headers headers = {};                    // Beside Content-Type and Accept.
  // The resource of all spans: {"service.name", "apiserver"}.
  std::vector<trace::Attribute> resource = {};

  // The limits of the queue; spans over them are dropped and counted.
  std::size_t queue_spans_max = 2048;
  std::size_t queue_bytes_max = 16 << 20;
  // The most spans of one request. A full batch is sent at once, a smaller one after `batch_delay`.
  std::size_t batch_spans_max = 512;
  std::chrono::milliseconds batch_delay = std::chrono::seconds(5);
  // The limit of one attempt.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  // A batch is sent again after 429, 502, 503, 504 and a missing response, not before a Retry-After
  // (up to 30 s); after the last attempt it is dropped and counted.
  Backoff backoff = {.duration = std::chrono::seconds(5), .factor = 1.5, .jitter = 0.5, .steps = 5};

  // Encodes and sends batches; outlives the exporter. Null: a thread of its own.
  Executor* executor = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();                         // Outlives the calls of the exporter.
  std::shared_ptr<metrics::Registry> metrics = nullptr;  // Null: one of its own.
};

// An exporter with one request in flight at a time. Spans that are left when it is destroyed are
// dropped: call Flush() first.
std::shared_ptr<trace::SpanProcessor> NewOtlpExporter(const OtlpExporterOptions& options);

}  // namespace apiserver::inline v0::client
