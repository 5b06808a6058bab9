#pragma once

#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"
#include "wardle/ban_flunder.h"

namespace wardle {

// Adds kinds and resources of the group, as k8s.io/sample-apiserver does. `ban_flunder` is told
// where the Fischers are; whether it is asked is the server's admission chain's to say.
apiserver::Status Install(apiserver::server::GenericAPIServer& server,
                          const apiserver::registry::StorageConfig& config,
                          BanFlunder& ban_flunder);

}  // namespace wardle
