#pragma once

#include <optional>
#include <string>

#include "apiserver/base/status.h"
#include "apiserver/client/client_config.h"

namespace sample {

// The cluster of the pod that this process runs in; none: it runs in no pod.
std::optional<apiserver::client::ClientConfig> InPod();

// The cluster that `flag` names by the kubeconfig `path`, else the pod's. kInvalid: neither, or the
// file cannot be used.
apiserver::Result<apiserver::client::ClientConfig> ClusterConfig(const std::string& flag,
                                                                 const std::string& path);

}  // namespace sample
