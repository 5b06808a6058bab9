#pragma once

#include <chrono>
#include <memory>

#include "apiserver/aggregator/proxy_handler.h"
#include "apiserver/aggregator/services.h"
#include "apiserver/base/log.h"
#include "apiserver/base/source.h"
#include "apiserver/base/status.h"
#include "apiserver/discovery/defined_versions.h"
#include "apiserver/http/dialer.h"
#include "apiserver/http/tls.h"
#include "apiserver/proxy/pipes.h"
#include "apiserver/registry/store.h"
#include "apiserver/server/server.h"

// APIServices: group versions that extension servers serve, in front of those of a server itself:
// k8s.io/kube-aggregator/pkg/apiserver.
namespace apiserver::inline v0::aggregator {

// How extension servers are reached.
struct Options {
  // Required. It must outlive the server.
  http::Dialer* dialer = nullptr;
  // Required. Finds the address of an extension server.
  std::shared_ptr<const ServiceResolver> service_resolver;
  // The services that are checked before an extension server is asked, and again when they change.
  // Null: only the answer of the extension server counts.
  std::shared_ptr<Services> services = nullptr;
  // The certificate by which extension servers know a front proxy; see ProxyHandlerOptions.
  std::shared_ptr<const Source<http::KeyPair>> proxy_client = nullptr;
  bool reject_forwarding_redirects = true;
  // Counts and limits upgraded connections. All are closed when the server no longer takes new
  // requests. Null: they are not limited in number.
  std::shared_ptr<proxy::Pipes> pipes = nullptr;
  // How often each extension server is asked whether it is available.
  std::chrono::milliseconds availability_period = std::chrono::seconds(30);
  // How often each extension server is asked for its resources and its OpenAPI.
  std::chrono::milliseconds discovery_period = std::chrono::minutes(1);
  // Creates local APIServices for the group versions that a kube-apiserver would register of those
  // that the server has when it starts, with its priorities. They have the label
  // kube-aggregator.kubernetes.io/automanaged; one without it is the user's, and stays as it is.
  bool auto_register = false;
  // With `auto_register`: the group versions that get one for as long as they are defined, as those
  // of apiextensions::Install. Null: there are none. Discovery shows them without APIServices, too.
  std::shared_ptr<discovery::DefinedVersions> definitions = nullptr;
  // Gets what cannot be told to a client. Must outlive the server.
  LogSink* log = &NullLogSink();
};

// The APIServices of a server. Any thread.
class APIAggregator {
 public:
  // Destroying it changes nothing: the server goes on serving.
  virtual ~APIAggregator() = default;
  // Waits until requests are routed by the APIServices that were stored when the server started.
  // Returns false if `timeout` passes first.
  virtual bool WaitForSync(std::chrono::milliseconds timeout) const = 0;
};

// Serves the group apiregistration.k8s.io, and forwards requests for "/apis/<group>/<version>" and
// all below to the extension server of an APIService that has a service, whether this server has
// the group version itself or not. Discovery shows the resources of extension servers, and has the
// order of the APIServices' priorities; OpenAPI has their documents. Call it once, before
// PrepareRun. APIServices are stored below "<prefix>/apiregistration.k8s.io/apiservices/".
//
//   APISERVER_RETURN_IF_ERROR(
//       aggregator::Install(*server, server->Storage(*engine), {.dialer = dialer.get(),
//                                                               .service_resolver = resolver})
//           .status());
//
// APIServices are followed from the start of the server to its stop, and their condition Available
// is kept. kConflict: the server has the group already. kInvalid: a required option is missing,
// or the server's configuration disables APIServices.
Result<std::unique_ptr<APIAggregator>> Install(server::GenericAPIServer& server,
                                               const registry::StorageConfig& storage,
                                               Options options);

}  // namespace apiserver::inline v0::aggregator
