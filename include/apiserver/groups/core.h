#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/status.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/install.h"
#include "apiserver/server/server.h"

// The legacy group, v1: k8s.io/api/core/v1 as of Kubernetes 1.35.
namespace apiserver::inline v0::groups::core {

// Returns ConfigMap, Endpoints, Event, Namespace, Pod, Secret, Service and ServiceAccount: names,
// fields with their numbers and markers, the defaults that markers state. No strategies: validation
// and further defaults are the host's. Kubernetes validates these kinds by code and not by their
// markers, so their stores have registry::StoreOptions::validate_schema false. Each call makes new
// kinds; a server needs them once. It fails only if the library was built wrong.
Result<std::vector<runtime::KindPtr>> Kinds();

// The storage of the group, and the users of its stores.
struct Options {
  // Required. The storage of the objects.
  registry::StorageConfig storage;
  // Gets the stores, which the server's own tokens are checked against. Null: they are not needed.
  std::shared_ptr<TokenObjects> tokens = nullptr;
  // Further subresources of serviceaccounts by name, such as "token".
  std::map<std::string, server::Resource::Subresource> account_subresources = {};
};

// Serves secrets and serviceaccounts, with Kubernetes' defaults, validation and columns, for a
// standalone server with service account tokens or bootstrap tokens. A secret of type
// kubernetes.io/tls whose key does not match causes no warning.
//
//   auto objects = std::make_shared<groups::TokenObjects>();
//   config.authenticator = …  // authn::NewServiceAccountTokens({…, .getter = objects})
//   …
//   RETURN_IF_ERROR(groups::core::Install(*server, {.storage = storage, .tokens = objects}));
//
// A host that serves pods and nodes, too, gives their stores to TokenObjects::Use, and one that
// makes all of these stores itself to SetStores.
// kConflict: the server has the group already.
Status Install(server::GenericAPIServer& server, const Options& options);

// Returns config maps, endpoints, events, namespaces, pods and nodes, pods first, as a
// kube-apiserver serves them: with Kubernetes' defaults, validation, strategies, columns and field
// selectors; nodes with their status, namespaces with status and finalize, pods with status,
// binding, eviction, ephemeralcontainers and resize. A host adds subresources of its own, such as
// pods/exec, and passes them to server::InstallKinds(). An eviction asks no PodDisruptionBudget:
// there are none. Events do not expire unless the host sets registry::StoreOptions::ttl. A
// namespace that is deleted stays until somebody finalizes it: nothing here empties it.
//
//   ASSIGN_OR_RETURN(auto resources, groups::core::ClusterResources(*storage.clock));
//   RETURN_IF_ERROR(server::InstallKinds(*server, storage, std::move(resources)).status());
//
// `clock` must outlive the resources and what is made of them. Each call makes new kinds. It fails
// only if the library was built wrong.
Result<std::vector<server::Resource>> ClusterResources(const Clock& clock);
// Serves the resource bindings, which assigns a pod of the store `pods` to a node, as pods/binding
// does. `clock` must outlive the server. kConflict: the server has the resource.
Status InstallBindings(server::Handler& server, std::shared_ptr<registry::Store> pods,
                       const Clock& clock);

}  // namespace apiserver::inline v0::groups::core
