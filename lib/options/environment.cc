#include "apiserver/options/environment.h"

namespace apiserver::v0::options {

Result<client::ClientConfig> ClusterConfig(const std::string& flag, const std::string& path,
                                           const Environment& environment) {
  if (!path.empty()) {
    auto config = client::ReadClientConfigFile(
        *environment.files, path, client::Cleartext::kRefused, environment.exec_plug_ins);
    if (config.ok()) {
      config->origin.append(flag).append(": ").append(path);
      return config;
    }
    return config.status().WithMessage(flag + ": " + std::string(config.status().message()));
  }
  if (environment.in_cluster) return *environment.in_cluster;
  return Status(Reason::kInvalid, "without --standalone this server asks a cluster: give it " +
                                      flag + ", or run it in a pod");
}

}  // namespace apiserver::v0::options
