#pragma once

#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

namespace builtin {

// Serves configmaps and apps/v1 deployments with their fields and none of their rules: enough for
// clients that know the Go types.
apiserver::Status Install(apiserver::server::GenericAPIServer& server,
                          const apiserver::registry::StorageConfig& config);

}  // namespace builtin
