#include "cluster.h"

#include <cstdlib>
#include <utility>

#include "apiserver/base/file_system.h"

namespace sample {

using apiserver::Result;
using apiserver::Status;
namespace client = apiserver::client;

std::optional<client::ClientConfig> InPod() {
  // NOLINTBEGIN(concurrency-mt-unsafe): nobody sets the environment
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  // NOLINTEND(concurrency-mt-unsafe)
  if (!host || !port) return std::nullopt;
  auto config = client::InClusterClientConfig(apiserver::RealFileSystem(), host, port);
  if (!config.ok()) return std::nullopt;
  return *std::move(config);
}

Result<client::ClientConfig> ClusterConfig(const std::string& flag, const std::string& path) {
  if (!path.empty()) {
    auto config = client::ReadClientConfigFile(apiserver::RealFileSystem(), path);
    if (config.ok()) {
      config->origin.append(flag).append(": ").append(path);
      return config;
    }
    return config.status().WithMessage(flag + ": " + std::string(config.status().message()));
  }
  if (auto pod = InPod()) return *std::move(pod);
  return Status(
      apiserver::Reason::kInvalid,
      "without --standalone this server asks a cluster: give it " + flag + ", or run it in a pod");
}

}  // namespace sample
