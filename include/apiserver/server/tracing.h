#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/file_system.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/base/trace.h"
#include "apiserver/client/http_client.h"

// TracingConfiguration, and the tracer that follows it: k8s.io/apiserver/pkg/server/options
// (--tracing-config-file) and k8s.io/component-base/tracing.
namespace apiserver::inline v0::server {

// apiserver.config.k8s.io/v1, v1beta1 and v1alpha1.
struct TracingConfiguration {
  // The collector, which takes OTLP over HTTP with JSON: "http://…" or "https://…", with the path
  // of traces or without. Upstream's is host and port of OTLP over gRPC (localhost:4317).
  std::string endpoint = "http://localhost:4318";
  // Of requests that come without a trace that may decide. Zero: none of them is recorded.
  int sampling_rate_per_million = 0;

  // Where spans are posted: "http://localhost:4318/v1/traces".
  std::string TracesUrl() const;
};

// Strict. kInvalid: in which line what is wrong, and what would be right.
Result<TracingConfiguration> ParseTracingConfiguration(std::string_view text);
// kInvalid: the same, behind the file's name.
Result<TracingConfiguration> LoadTracingConfigurationFile(const FileSystem& files,
                                                          const std::string& path);

struct TracingDeps {
  client::HttpClientFactory new_client = nullptr;  // Required.
  std::string service_name = "apiserver";
  std::string instance_id = {};  // Empty: "apiserver-" and a UUID.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();  // Outlives the tracer's last call.
};
// For Config::tracer. kInvalid: TLS material that the client cannot read.
Result<std::shared_ptr<const trace::Tracer>> NewTracer(const TracingConfiguration& configuration,
                                                       const TracingDeps& deps);

}  // namespace apiserver::inline v0::server
