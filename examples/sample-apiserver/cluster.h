#pragma once

#include <optional>

#include "apiserver/client/client_config.h"

namespace sample {

// The cluster of the pod that this process runs in; none: it runs in no pod.
std::optional<apiserver::client::ClientConfig> InPod();

}  // namespace sample
