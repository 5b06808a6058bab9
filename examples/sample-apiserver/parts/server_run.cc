#include <CLI/CLI.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "apiserver/server/features.h"
#include "duration_flag.h"
#include "parts/parts.h"

namespace sample {

namespace {

class ServerRun final : public Part {
 public:
  void AddFlags(CLI::App& app) override {
    AddDuration(app, "--request-timeout", request_timeout_,
                "How long a request may take, watches aside (default: 1m)");
    app.add_option("--min-request-timeout", min_request_timeout_seconds_,
                   "Seconds a watch lasts at least, unless its client says otherwise")
        ->check(CLI::Range(1, 86'400))
        ->capture_default_str();
    std::string gates = "Feature gates as pairs, e.g. A=true,B=false. Known are:";
    for (const std::string& gate : apiserver::server::DefaultFeatureGates().Help()) {
      gates += "\n" + gate;
    }
    app.add_option("--feature-gates", feature_gates_, gates)->delimiter(',');
  }

  std::string Problem(const Options& /*options*/) const override {
    if (request_timeout_ > std::chrono::milliseconds(0)) return "";
    return "--request-timeout must be positive, e.g. 60s";
  }

  apiserver::Status Configure(const Environment& /*environment*/,
                              apiserver::server::Config& config) override {
    config.request_timeout = request_timeout_;
    config.min_request_timeout = std::chrono::seconds(min_request_timeout_seconds_);
    std::string gates;
    for (const std::string& gate : feature_gates_) gates += gate + ",";
    apiserver::Status set = config.features.Set(gates);
    if (set.ok()) return set;
    return set.WithMessage("--feature-gates: " + std::string(set.message()));
  }

 private:
  std::chrono::milliseconds request_timeout_ = std::chrono::seconds(60);
  int min_request_timeout_seconds_ = 1800;
  std::vector<std::string> feature_gates_;  // Of every time that the flag was given.
};

}  // namespace

std::unique_ptr<Part> NewServerRun() { return std::make_unique<ServerRun>(); }

}  // namespace sample
