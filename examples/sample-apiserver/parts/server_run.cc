#include <CLI/CLI.hpp>
#include <chrono>
#include <string>

#include "apiserver/server/features.h"
#include "parts/parts.h"

namespace sample {

namespace {

class ServerRun final : public Part {
 public:
  void AddFlags(CLI::App& app) override {
    app.add_option("--request-timeout", request_timeout_seconds_,
                   "Seconds a request may take, watches aside")
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str();
    app.add_option("--min-request-timeout", min_request_timeout_seconds_,
                   "Seconds a watch lasts at least, unless its client says otherwise")
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str();
    std::string gates = "Feature gates as pairs, e.g. A=true,B=false. Known are:";
    for (const std::string& gate : apiserver::server::DefaultFeatureGates().Help()) {
      gates += "\n" + gate;
    }
    app.add_option("--feature-gates", feature_gates_, gates);
  }

  apiserver::Status Configure(const Environment& /*environment*/,
                              apiserver::server::Config& config) override {
    config.request_timeout = std::chrono::seconds(request_timeout_seconds_);
    config.min_request_timeout = std::chrono::seconds(min_request_timeout_seconds_);
    return config.features.Set(feature_gates_);
  }

 private:
  int request_timeout_seconds_ = 60;
  int min_request_timeout_seconds_ = 1800;
  std::string feature_gates_;
};

}  // namespace

std::unique_ptr<Part> NewServerRun() { return std::make_unique<ServerRun>(); }

}  // namespace sample
