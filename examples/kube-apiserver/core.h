#pragma once

#include <chrono>
#include <memory>

#include "apiserver/admission/namespaces.h"
#include "apiserver/base/status.h"
#include "apiserver/controlplane/connections.h"
#include "apiserver/controlplane/token_request.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

namespace kube {

// Where core objects are stored, and who uses them.
struct CoreOptions {
  const apiserver::registry::StorageConfig& storage;
  // Follows the namespaces.
  const std::shared_ptr<apiserver::admission::InformedNamespaces>& namespaces;
  // Gets the stores that tokens are checked against.
  const std::shared_ptr<apiserver::groups::TokenObjects>& tokens;
  // For serviceaccounts/token.
  const apiserver::controlplane::TokenRequestOptions& token_requests;
  // For pods/exec, log, proxy and their like.
  const apiserver::controlplane::ConnectionsOptions& connections;
  // How long an event is kept after its last change. Zero: for ever.
  std::chrono::milliseconds event_ttl;
};

// Serves the kinds that clients expect of every cluster: namespaces, config maps, events, secrets,
// service accounts with their tokens, services with their Endpoints and EndpointSlices, and leases,
// unless the server has them already, and pods and nodes with the connections to them. Follows the
// namespaces. What runs pods is not here.
apiserver::Status InstallCore(apiserver::server::GenericAPIServer& server,
                              const CoreOptions& options);

}  // namespace kube
