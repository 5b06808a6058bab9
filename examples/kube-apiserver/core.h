#pragma once

#include <memory>

#include "apiserver/admission/namespaces.h"
#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

namespace kube {

// Serves the kinds that clients expect of every cluster: namespaces, config maps, events, secrets,
// service accounts, services with their EndpointSlices and leases, unless the server has them
// already. Follows the namespaces, and makes those that a cluster begins with. Pods and all that
// runs them are not served.
apiserver::Status InstallCore(
    apiserver::server::GenericAPIServer& server, const apiserver::registry::StorageConfig& storage,
    const std::shared_ptr<apiserver::admission::InformedNamespaces>& namespaces);

}  // namespace kube
