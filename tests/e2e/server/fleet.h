#pragma once

#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

namespace harbor {

inline constexpr char kGroup[] = "harbor.example.com";

// Serves fleets.harbor.example.com/v1, a kind made of a .proto file, with the subresources status
// and scale.
apiserver::Status Install(apiserver::server::GenericAPIServer& server,
                          const apiserver::registry::StorageConfig& config);

}  // namespace harbor
