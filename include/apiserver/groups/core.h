#pragma once

#include <memory>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/groups/token_objects.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/server.h"

// The legacy group, v1: k8s.io/api/core/v1 as of Kubernetes 1.35.
namespace apiserver::inline v0::groups::core {

// ConfigMap, Event, Namespace, Pod, Secret and ServiceAccount: names, fields with their numbers and
// markers, the defaults that markers state. No strategies: validation and further defaults are the
// host's. Kubernetes validates them by code and not by their markers, so their stores have
// registry::StoreOptions::validate_schema false. Each call makes new kinds; a server needs them
// once. Errors: only if the library was built wrong.
Result<std::vector<runtime::KindPtr>> Kinds();

struct Options {
  // Required. Where the objects live.
  registry::StorageConfig storage;
  // Is told where they are: what the server's own tokens are checked against; null: nobody.
  std::shared_ptr<TokenObjects> tokens = nullptr;
};

// Serves secrets and serviceaccounts, with Kubernetes' defaults, validation and columns: what a
// server of its own needs that knows tokens of service accounts or bootstrap tokens. What has a
// type of kubernetes.io/tls is not warned about where its key does not match.
//
//   auto objects = std::make_shared<groups::TokenObjects>();
//   config.authenticator = …  // authn::NewServiceAccountTokens({…, .getter = objects})
//   …
//   RETURN_IF_ERROR(groups::core::Install(*server, {.storage = storage, .tokens = objects}));
//
// A host that serves more of the legacy group makes its stores itself, and calls SetStores.
// kConflict: the server has the group already.
Status Install(server::GenericAPIServer& server, const Options& options);

}  // namespace apiserver::inline v0::groups::core
