#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/registry/store.h"
#include "apiserver/rest/storage.h"
#include "apiserver/rest/strategy.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/server/handler.h"

// Kinds served from the generic store in one call.
namespace apiserver::inline v0::server {

// A kind to be served, and how its resource differs from an ordinary one.
struct Resource {
  // Required. Served under its plural in every version that is `served`, with the status and scale
  // subresources that the version declares.
  runtime::KindPtr kind;
  // Null: rest::NewKindStrategy(kind).
  std::shared_ptr<const rest::Strategy> strategy = nullptr;
  // The strategy of the status subresource. Null: rest::NewStatusStrategy(strategy, kind).
  std::shared_ptr<const rest::Strategy> status_strategy = nullptr;
  // Makes a subresource of the resource's store, while the kind is installed. Runs on the thread of
  // InstallKinds() and may block.
  using Subresource =
      std::function<Result<std::shared_ptr<rest::Storage>>(std::shared_ptr<registry::Store>)>;
  // Further subresources by name, "rotate", served in the same versions. One that is called
  // "status" or "scale" stands in place of the one that the kind declares.
  std::map<std::string, Subresource> subresources = {};
  // Changes the options of the resource's store, such as columns and hooks, before it is made.
  // Runs on the thread of InstallKinds() and may block. Null: nothing is changed.
  std::function<void(registry::StoreOptions&)> configure = nullptr;
};

// Serves `resources` from now on: adds their kinds to the server's scheme, makes their stores and
// those of their subresources, and installs all of it; their groups need not be new. Returns the
// stores in the order of the resources. `server` is a server or another handler of its chain; may
// be called while it runs. After an error nothing has changed.
//
//   APISERVER_RETURN_IF_ERROR(
//       server::InstallKinds(*server, server->Storage(*engine), {{.kind = pet}}).status());
//
// kInvalid: a kind is missing, is there twice, is served in no version, or does not go with its
// strategy; a version has a status or scale subresource over a field that its schema does not have;
// a subresource has no valid name; what NewStore() and NewScaleStore() refuse. kConflict:
// the scheme knows another kind of that name or plural, or the server serves the resource already.
Result<std::vector<std::shared_ptr<registry::Store>>> InstallKinds(
    Handler& server, const registry::StorageConfig& storage, std::vector<Resource> resources);

}  // namespace apiserver::inline v0::server
