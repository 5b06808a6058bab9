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

// TracingConfiguration and the tracer that is made from it: k8s.io/apiserver/pkg/server/options
// (--tracing-config-file) and k8s.io/component-base/tracing.
namespace apiserver::inline v0::server {

// The configuration of apiserver.config.k8s.io/v1, v1beta1 and v1alpha1.
struct TracingConfiguration {
  // The collector, which must accept OTLP over HTTP with JSON: "http://…" or "https://…", with or
  // without the path of traces. Upstream's is host and port of OTLP over gRPC (localhost:4317).
  std::string endpoint = "http://localhost:4318";
  // The sampling rate of requests that bring no trusted trace. Zero: none of them is recorded.
  int sampling_rate_per_million = 0;

  // Returns the URL that spans are posted to: "http://localhost:4318/v1/traces".
  std::string TracesUrl() const;
};

// Parses the configuration strictly. kInvalid: the message tells the line, the error and the valid
// values.
Result<TracingConfiguration> ParseTracingConfiguration(std::string_view text);
// Parses a file. kInvalid: as above, after the file's name.
Result<TracingConfiguration> LoadTracingConfigurationFile(const FileSystem& files,
                                                          const std::string& path);

// The parts of the server that a tracer uses.
struct TracingDeps {
  client::HttpClientFactory new_client = nullptr;  // Required.
  std::string service_name = "apiserver";
  std::string instance_id = {};  // Empty: "apiserver-" and a UUID.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();  // Must outlive the tracer's last call.
};
// Makes the tracer for Config::tracer. kInvalid: TLS material that the client cannot read.
Result<std::shared_ptr<const trace::Tracer>> NewTracer(const TracingConfiguration& configuration,
                                                       const TracingDeps& deps);

}  // namespace apiserver::inline v0::server
