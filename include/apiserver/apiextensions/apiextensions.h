#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/client/http_client.h"
#include "apiserver/client/webhook_config.h"
#include "apiserver/discovery/defined_versions.h"
#include "apiserver/registry/store.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/value.h"
#include "apiserver/server/server.h"

// CustomResourceDefinitions: kinds that appear, change and vanish while a server runs, as
// k8s.io/apiextensions-apiserver serves them.
namespace apiserver::inline v0::apiextensions {

// How custom resources are served.
struct Options {
  // Makes the converter between the versions of a definition's objects, from the definition. Called
  // on a pool thread, where it may block; several threads may call it at once. Null: by the
  // strategy of the definition, None or Webhook. If it returns null, versions differ in apiVersion
  // and in the fields that they know.
  std::function<Result<std::shared_ptr<const runtime::VersionConverter>>(
      const runtime::Value& definition)>
      new_converter = nullptr;
  // Makes the clients for conversion webhooks. Null: client::NewHttpClientFactory().
  client::HttpClientFactory new_webhook_client = nullptr;
  // Finds the services of conversion webhooks. Must outlive the server.
  const client::ServiceResolver* resolver = &client::DefaultServiceResolver();
  // Gets what cannot be told to a client. Must outlive the server.
  LogSink* log = &NullLogSink();
};

// The custom resources of a server. Any thread. Destroying it changes nothing: the server goes on
// serving, and telling whom Follow() has named.
class CustomResources : public discovery::DefinedVersions {
 public:
  // Waits until the definitions that were stored when the server started are served; until then
  // requests for unknown resources are answered 503. Returns false if `timeout` passes first.
  bool WaitForSync(std::chrono::milliseconds timeout) const override = 0;
};

// Serves the group apiextensions.k8s.io and the resources that its CustomResourceDefinitions
// define, with the admission of `server`. Call it once, before PrepareRun. Definitions are stored
// below
// "<prefix>/apiextensions.k8s.io/customresourcedefinitions/", objects below
// "<prefix>/<group>/<plural>/".
//
//   APISERVER_RETURN_IF_ERROR(
//       apiextensions::Install(*server, server->Storage(*engine)).status());
//
// Definitions are followed from the start of the server to its stop: the post-start hook
// crd-informer-synced returns when they are known. kConflict: the server has the group already.
Result<std::unique_ptr<CustomResources>> Install(server::GenericAPIServer& server,
                                                 const registry::StorageConfig& storage,
                                                 Options options = {});

}  // namespace apiserver::inline v0::apiextensions
