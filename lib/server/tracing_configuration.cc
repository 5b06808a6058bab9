#include <algorithm>
#include <charconv>
#include <utility>

#include "apiserver/client/otlp_exporter.h"
#include "apiserver/server/tracing.h"
#include "base/status_macros.h"
#include "codec/config_reader.h"
#include "text/go_url.h"

namespace apiserver::v0::server {

namespace {

constexpr std::int64_t kRateMax = 1'000'000;
constexpr std::string_view kTracesPath = "/v1/traces";
constexpr std::string_view kEndpointRemedy =
    "must be the URL of a collector that takes OTLP over HTTP, such as http://localhost:4318; "
    "OTLP over gRPC, as on port 4317, is not spoken";

bool IsPort(std::string_view text) {
  int port = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
  return read.ec == std::errc() && port > 0 && port <= 65535;
}

// True for "http" or "https", host and port, a path; no credentials, query or fragment.
bool IsEndpoint(std::string_view text) {
  const bool plain =
      std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~' && c != '#'; });
  const text::Read<text::GoUrl> url = text::ParseGoUrl(text);
  if (!plain || !url.ok()) return false;
  const bool web = url->scheme == "http" || url->scheme == "https";
  const bool bare = !url->user && !url->force_query && url->raw_query.empty();
  const std::string port = url->Port();
  const bool good_port = port.empty() ? !url->host.ends_with(':') : IsPort(port);
  return web && bare && good_port && !url->Hostname().empty();
}

}  // namespace

std::string TracingConfiguration::TracesUrl() const {
  std::string_view base = endpoint;
  while (base.ends_with('/')) base.remove_suffix(1);
  std::string url(base);
  // Collectors are configured with or without the path, so both are accepted.
  if (!base.ends_with(kTracesPath)) url += kTracesPath;
  return url;
}

// Parses as component-base/tracing/api/v1/config.go does, except for the form of the endpoint.
Result<TracingConfiguration> ParseTracingConfiguration(std::string_view text) {
  codec::ConfigReader reader(text);
  ASSIGN_OR_RETURN(const runtime::Value root,
                   reader.Parse("TracingConfiguration",
                                {"apiserver.config.k8s.io/v1", "apiserver.config.k8s.io/v1beta1",
                                 "apiserver.config.k8s.io/v1alpha1"}));
  reader.CheckFields(field::Path(), root,
                     {"apiVersion", "kind", "endpoint", "samplingRatePerMillion"});
  TracingConfiguration configuration;
  const field::Path endpoint("endpoint");
  if (!root["endpoint"].is_null()) {
    configuration.endpoint = reader.Text(endpoint, root["endpoint"]);
    if (root["endpoint"].is_string() && !IsEndpoint(configuration.endpoint)) {
      reader.Wrong(endpoint, "is " + field::Quote(configuration.endpoint) + "; it " +
                                 std::string(kEndpointRemedy));
    }
  }
  const field::Path rate_path("samplingRatePerMillion");
  const std::int64_t rate = reader.Number(rate_path, root["samplingRatePerMillion"]).value_or(0);
  field::ErrorList errors;
  if (rate < 0) {
    errors.InvalidPrinted(rate_path, std::to_string(rate), "sampling rate must be positive");
  }
  if (rate > kRateMax) {
    errors.InvalidPrinted(rate_path, std::to_string(rate),
                          "sampling rate per million must be less than or equal to one million");
  }
  reader.Wrong(errors);
  RETURN_IF_ERROR(reader.Outcome());
  configuration.sampling_rate_per_million = static_cast<int>(rate);
  return configuration;
}

Result<TracingConfiguration> LoadTracingConfigurationFile(const FileSystem& files,
                                                          const std::string& path) {
  const Result<std::string> text = files.Read(path);
  if (!text.ok()) {
    return Status(Reason::kInvalid,
                  "tracing configuration: " + std::string(text.status().message()));
  }
  auto configuration = ParseTracingConfiguration(*text);
  if (configuration.ok()) return configuration;
  return Status(Reason::kInvalid, "tracing configuration " + path + ": " +
                                      std::string(configuration.status().message()));
}

Result<std::shared_ptr<const trace::Tracer>> NewTracer(const TracingConfiguration& configuration,
                                                       const TracingDeps& deps) {
  if (!deps.new_client) {
    return Status(Reason::kInvalid, "tracing: a factory of HTTP clients is required");
  }
  ASSIGN_OR_RETURN(std::shared_ptr<client::HttpClient> client, deps.new_client({}));
  // Collectors tell the servers of one service apart by it.
  const std::string instance =
      deps.instance_id.empty() ? "apiserver-" + NewUuid(*deps.random) : deps.instance_id;
  auto exporter = client::NewOtlpExporter(
      {.client = std::move(client),
       .url = configuration.TracesUrl(),
       .resource = {{"service.name", deps.service_name}, {"service.instance.id", instance}},
       .clock = deps.clock,
       .random = deps.random,
       .log = deps.log,
       .metrics = deps.metrics});
  return trace::Tracer::New({.processor = std::move(exporter),
                             .sampling_rate_per_million = configuration.sampling_rate_per_million,
                             .clock = deps.clock,
                             .random = deps.random});
}

}  // namespace apiserver::v0::server
