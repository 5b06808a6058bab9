#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/auth/authorizer.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/discovery/discovery.h"
#include "apiserver/http/exchange.h"
#include "apiserver/openapi/route.h"
#include "apiserver/request/request_info.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/scheme.h"
#include "apiserver/storage/stats.h"

// Turns a group version into routes: k8s.io/apiserver/pkg/endpoints.APIGroupVersion.
namespace apiserver::inline v0::endpoints {

// The parts that all handlers of a server share; must outlive all of them.
struct Environment {
  const admission::Chain* admission = nullptr;  // Null: all requests are admitted unchanged.
  // Maps a resource to its equivalents in other versions. Null: it has none.
  const admission::EquivalentResourceMapper* equivalents = nullptr;
  // Authorizes create-on-update and WebSockets. Null: they are allowed.
  const auth::Authorizer* authorizer = nullptr;
  // If set, a WebSocket to a Connecter, which begins with a GET, needs the verb create.
  bool websocket_needs_create = true;
  std::chrono::milliseconds min_request_timeout = std::chrono::minutes(30);  // Watches: x 1..2.
  // A write that takes longer is answered with 504.
  std::chrono::milliseconds write_timeout = std::chrono::seconds(34);
  std::size_t json_patch_operations_max = 10'000;
  std::size_t json_patch_copy_bytes_max = 3 << 20;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
};

// Set in an exchange, lets the verb of the RequestInfo choose the action more than the method does,
// as upstream does for custom resources: HEAD is answered as GET, and POST to an object creates the
// object of that name. Other resources answer both with 405.
struct ByVerb {};

// A resource of a group version with its subresources, ready to serve. Immutable; it dispatches by
// the request's RequestInfo rather than by matching patterns again. Any thread; on a loop Serve()
// returns kWouldBlock rather than wait.
class Installed {
 public:
  virtual ~Installed() = default;
  virtual const runtime::GroupVersionResource& resource() const = 0;
  // Runs the handler for the RequestInfo, which determines it completely: verb, resource,
  // subresource, name and namespace. 404 and 405 as go-restful answers them.
  virtual http::Step Serve(http::Exchange& exchange) const = 0;
  // Returns the answers of Serve that do not need the body: 404, 405, 406, 415. OK: it reads the
  // body.
  virtual Status CheckBeforeBody(http::Exchange& exchange) const = 0;
  // Returns true if such a request may stay open for long: it connects, or reads a stream.
  virtual bool LongRunning(const request::RequestInfo& info, std::string_view method) const = 0;
  // Returns the stored number and size of the resource. nullopt: not known.
  virtual std::optional<storage::Stats> GetStats() const = 0;
  // Returns the rows of discovery, parents before their subresources.
  virtual const std::vector<discovery::APIResource>& resources() const = 0;
  // Returns the OpenAPI rows, made anew at each call: only documents need them.
  virtual std::vector<openapi::Route> Routes() const = 0;
  // Returns the kinds of all bodies, each once: the resource's, and a subresource's own.
  virtual const std::vector<runtime::KindPtr>& kinds() const = 0;
  virtual const std::vector<std::shared_ptr<rest::Storage>>& storages() const = 0;
};

// The resources of one version of a group.
struct APIGroupVersion {
  std::string root = "/apis";  // "/api" for the legacy group.
  runtime::GroupVersion group_version;
  // The storages by resource, or resource/subresource: "flunders", "flunders/status".
  std::map<std::string, std::shared_ptr<rest::Storage>> storage;
  std::shared_ptr<const runtime::Scheme::Snapshot> scheme;
  const Environment* environment = nullptr;  // Required; must outlive the result.

  // Returns one entry per resource, by name. kInvalid: a storage that cannot be served, for example
  // a lister without tables, a subresource without parent, a kind that the scheme does not have;
  // the message names it.
  Result<std::vector<std::shared_ptr<const Installed>>> InstallREST() const;
};

}  // namespace apiserver::inline v0::endpoints
