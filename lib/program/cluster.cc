#include "program/cluster.h"

#include <cstdlib>
#include <utility>

#include "apiserver/base/file_system.h"

namespace apiserver::v0::program {

// nullopt outside of a pod, where Go's rest.InClusterConfig returns ErrNotInCluster.
std::optional<client::ClientConfig> InPod() {
  // NOLINTBEGIN(concurrency-mt-unsafe): a program sets no variables of its environment
  const char* host = std::getenv("KUBERNETES_SERVICE_HOST");
  const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
  // NOLINTEND(concurrency-mt-unsafe)
  if (!host || !port) return std::nullopt;
  auto config = client::InClusterClientConfig(RealFileSystem(), host, port);
  if (!config.ok()) return std::nullopt;
  return *std::move(config);
}

}  // namespace apiserver::v0::program
