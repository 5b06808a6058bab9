#include <string>
#include <vector>

#include "apiserver/groups/flowcontrol.h"
#include "apiserver/options/feature.h"
#include "apiserver/options/server_run.h"
#include "parts/parts.h"

namespace sample {

namespace {

class ServerRun final : public Part {
 public:
  void AddFlags(examples::CliFlags& flags) override {
    run_.AddFlags(flags);
    features_.AddFlags(flags);
  }

  std::string Problem(const Options& /*options*/) const override {
    std::vector<std::string> problems = run_.Validate();
    if (problems.empty()) problems = features_.Validate(run_);
    return problems.empty() ? "" : problems.front();
  }

  apiserver::Status Configure(const Environment& /*environment*/,
                              apiserver::server::Config& config) override {
    features_.ApplyTo(config);
    return run_.ApplyTo(config);
  }

  // Priority and fairness take their configuration from the server's own objects.
  apiserver::Status Install(const Environment& environment,
                            apiserver::server::GenericAPIServer& server,
                            const apiserver::registry::StorageConfig& storage) override {
    if (!features_.enable_priority_and_fairness) return {};
    return apiserver::groups::flowcontrol::Install(server,
                                                   {.storage = storage, .log = &environment.log});
  }

 private:
  apiserver::options::ServerRunOptions run_;
  apiserver::options::FeatureOptions features_;
};

}  // namespace

std::unique_ptr<Part> NewServerRun() { return std::make_unique<ServerRun>(); }

}  // namespace sample
