#pragma once

#include <optional>

#include "apiserver/client/client_config.h"

namespace apiserver::inline v0::program {

// Returns the cluster of the pod that this process runs in. nullopt: it runs in no pod.
std::optional<client::ClientConfig> InPod();

}  // namespace apiserver::inline v0::program
