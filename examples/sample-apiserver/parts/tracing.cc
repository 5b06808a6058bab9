#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/base/file_system.h"
#include "apiserver/server/tracing.h"
#include "calls_out.h"
#include "parts/parts.h"

namespace sample {

namespace {

using apiserver::Status;
namespace client = apiserver::client;
namespace server = apiserver::server;

class Tracing final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override {
    CLI::App& app = flags.app();
    app.add_option("--tracing-config-file", config_file_,
                   "File with a TracingConfiguration: to which collector (OTLP over HTTP) spans of "
                   "requests go, and of how many");
  }

  Status Configure(const Environment& environment, server::Config& config) override {
    if (config_file_.empty()) return {};
    const auto configuration =
        server::LoadTracingConfigurationFile(apiserver::RealFileSystem(), config_file_);
    if (!configuration.ok()) {
      return configuration.status().WithMessage("--tracing-config-file: " +
                                                std::string(configuration.status().message()));
    }
    client::HttpClientFactory new_client = CallsOut(config);
    auto tracer = server::NewTracer(*configuration, {.new_client = std::move(new_client),
                                                     .service_name = config.name,
                                                     .metrics = config.metrics,
                                                     .log = &environment.log});
    if (!tracer.ok()) return tracer.status();
    config.tracer = *std::move(tracer);
    return {};
  }

 private:
  std::string config_file_;
};

}  // namespace

std::unique_ptr<Part> NewTracing() { return std::make_unique<Tracing>(); }

}  // namespace sample
