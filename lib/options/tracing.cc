#include "apiserver/options/tracing.h"

#include <utility>

#include "apiserver/server/tracing.h"
#include "base/status_macros.h"
#include "options/calls_out.h"

namespace apiserver::v0::options {

void TracingOptions::AddFlags(FlagSet& flags) {
  flags.BeginSection("Traces");
  flags.Add({.name = "--tracing-config-file",
             .value = &config_file,
             .help = "File with a TracingConfiguration: to which collector (OTLP over HTTP) spans "
                     "of requests go, and of how many"});
}

Status TracingOptions::ApplyTo(server::Config& config, LogSink& log) const {
  if (config_file.empty()) return {};
  const auto configuration = server::LoadTracingConfigurationFile(*files, config_file);
  if (!configuration.ok()) {
    return configuration.status().WithMessage("--tracing-config-file: " +
                                              std::string(configuration.status().message()));
  }
  // It makes the metrics that the next line needs.
  client::HttpClientFactory new_client = CallsOut(config);
  ASSIGN_OR_RETURN(config.tracer,
                   server::NewTracer(*configuration, {.new_client = std::move(new_client),
                                                      .service_name = config.name,
                                                      .metrics = config.metrics,
                                                      .log = &log}));
  return {};
}

}  // namespace apiserver::v0::options
