#pragma once

#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/options/flag_set.h"
#include "apiserver/server/resource_config.h"
#include "apiserver/server/server.h"

// k8s.io/apiserver/pkg/server/options/api_enablement.go.
namespace apiserver::inline v0::options {

// The group versions and resources that a user turns on and off. Only for a server with versions
// that it does not serve by default, and not among RecommendedOptions, as upstream.
struct APIEnablementOptions {
  // --runtime-config: pairs such as "apps/v1" and "false"; of a key given twice the last counts.
  server::RuntimeConfig runtime_config = {};

  // Adds the flag. The options must outlive the reading of the command line.
  void AddFlags(FlagSet& flags);
  // Returns a line for each mistake, in upstream's words. `defaults` knows the versions of the
  // server.
  std::vector<std::string> Validate(const server::ResourceConfig& defaults) const;
  // Sets Config::resource_config: `defaults` changed by the flag. kInvalid: what
  // MergeAPIResourceConfigs() refuses.
  Status ApplyTo(server::Config& config, server::ResourceConfig defaults) const;
};

}  // namespace apiserver::inline v0::options
