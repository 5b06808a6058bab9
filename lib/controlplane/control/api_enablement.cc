#include "apiserver/controlplane/api_enablement.h"

#include <string>
#include <utility>
#include <vector>

namespace apiserver::v0::controlplane {

namespace {

bool MeansCore(const std::string& key) {
  return key == "v1" || key.starts_with("v1/") || key == "api/v1" || key.starts_with("api/v1/");
}

// Upstream searches the pairs, joined by commas, for these texts.
Status CheckFlowControl(const server::RuntimeConfig& config) {
  for (const char* const key : {"flowcontrol.apiserver.k8s.io/v1", "api/ga", "api/all"}) {
    const auto found = config.find(key);
    if (found == config.end()) continue;
    if (found->second == "true") return {};
    if (found->second != "false") continue;
    return {Reason::kInvalid, "--runtime-config=" + std::string(key) +
                                  "=false conflicts with --enable-priority-and-fairness=true"};
  }
  return {};
}

}  // namespace

server::ResourceConfig DefaultAPIResourceConfigSource() {
  server::ResourceConfig config;
  config.EnableVersions({{"", "v1"},
                         {"admissionregistration.k8s.io", "v1"},
                         {"apiextensions.k8s.io", "v1"},
                         {"apiregistration.k8s.io", "v1"},
                         {"authentication.k8s.io", "v1"},
                         {"authorization.k8s.io", "v1"},
                         {"coordination.k8s.io", "v1"},
                         {"discovery.k8s.io", "v1"},
                         {"flowcontrol.apiserver.k8s.io", "v1"},
                         {"rbac.authorization.k8s.io", "v1"}});
  config.DisableVersions({{"admissionregistration.k8s.io", "v1beta1"}});
  return config;
}

Status CompleteAPIEnablement(options::APIEnablementOptions& enablement,
                             bool priority_and_fairness) {
  server::RuntimeConfig completed;
  for (const auto& [key, value] : enablement.runtime_config) {
    if (key != "api/legacy") completed[MeansCore(key) ? "/v1" : key] = value;
  }
  enablement.runtime_config = std::move(completed);
  if (priority_and_fairness) {
    Status status = CheckFlowControl(enablement.runtime_config);
    if (!status.ok()) return status;
  }
  const std::vector<std::string> problems = enablement.Validate(DefaultAPIResourceConfigSource());
  return problems.empty() ? Status() : Status(Reason::kInvalid, problems.front());
}

}  // namespace apiserver::v0::controlplane
