#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/base/context.h"
#include "apiserver/base/status.h"
#include "apiserver/http/exchange.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/scheme.h"
#include "apiserver/server/route_source.h"

// The serving chain: the resources, paths, checks and hooks of each handler of a server.
namespace apiserver::inline v0::server {

class GenericAPIServer;

// A group with the resources of each version.
struct APIGroupInfo {
  std::string group;  // Empty: the legacy group, under /api.
  // The storages by version, then by resource or resource/subresource.
  std::map<std::string, std::map<std::string, std::shared_ptr<rest::Storage>>> storage;
};

// One resource of a version.
struct APIResourceInfo {
  runtime::GroupVersionResource resource;
  // The storages by resource and resource/subresource.
  std::map<std::string, std::shared_ptr<rest::Storage>> storage;
};

// The argument of a hook.
struct HookContext {
  GenericAPIServer& server;
  Context ctx;  // Cancelled when the server stops.
};
// A function that runs once. Each hook runs on a thread of its own, beside the others, and may
// block until its Context is done.
using Hook = std::function<Status(const HookContext&)>;

// A named check of /healthz, /livez and /readyz.
struct HealthCheck {
  std::string name;
  // Runs on the pool, beside other checks, and may block until the Context is done. Only one call
  // runs at a time: requests that come meanwhile share its outcome.
  std::function<Status(const Context&)> check;
  // The longest time of a check. One that takes longer has failed, and its Context is done. It is
  // run again once it has returned.
  std::chrono::milliseconds timeout = std::chrono::seconds(5);
  bool healthz = true;
  bool livez = true;
  bool readyz = true;
  // The group that "?exclude=<group>" excludes. Empty: the check is in no group.
  std::string group = {};
  // The time after it was added during which /livez counts it as passed.
  std::chrono::milliseconds livez_grace = std::chrono::milliseconds(0);
};

// One handler of a server's serving chain: resources, paths, health checks and hooks that belong
// together. Handlers share the server's listener, filters, discovery, OpenAPI and lifecycle: a
// client sees one server. The server itself is the first of its handlers and owns the others
// (GenericAPIServer::AddHandler). Any thread may call its methods.
class Handler {
 public:
  virtual ~Handler() = default;

  // Returns the scheme of its kinds; add them before InstallAPIGroup. Other handlers do not see
  // them.
  virtual runtime::Scheme& scheme() = 0;
  // Serves a group from now on: routes, discovery and OpenAPI change together. It may be called
  // while the server runs. kConflict: a version of it is served already, by this handler or by the
  // one that the message names: a group version belongs to one handler. After an error nothing has
  // changed.
  virtual Status InstallAPIGroup(APIGroupInfo group) = 0;
  // Serves the group in place of its present versions, which are removed as by RemoveAPIResource().
  // kConflict: another handler serves one of them.
  virtual Status ReplaceAPIGroup(APIGroupInfo group) = 0;
  // Serves one more resource, whose kind need not be in the scheme. The cost does not depend on the
  // number of resources, and no other one is touched. kConflict: it is served already, or its
  // version is another handler's.
  virtual Status InstallAPIResource(APIResourceInfo resource) = 0;
  // Serves the resource, replacing the one that is served now, if any.
  virtual Status ReplaceAPIResource(APIResourceInfo resource) = 0;
  // Stops serving a resource: new requests are answered 404, its watches end, running requests are
  // finished. A storage that no resource uses any more is destroyed on the pool after its last
  // request, and cannot be installed again. kNotFound: it is not served. kConflict: another handler
  // serves it.
  virtual Status RemoveAPIResource(const runtime::GroupVersionResource& resource) = 0;
  // Makes the route of a resource that a RouteSource of this handler finds. It serves what
  // InstallAPIResource() would serve, with the handler's admission, but is in no document, and its
  // storage no part of /readyz. A storage is destroyed on the pool after the route and its last
  // request. kInvalid: a storage cannot be served.
  virtual Result<std::shared_ptr<Route>> NewRoute(APIResourceInfo resource) = 0;
  // Serves `handler` at `path` outside the APIs, after authorization; a path that ends in '/' is a
  // prefix. `listed`: it appears in the index. kConflict: a handler of the chain has the path.
  // `handler` runs on an I/O loop, perhaps on several at once, and must not block there: see
  // http::Handler.
  virtual Status HandlePath(std::string path, http::Handler handler, bool listed) = 0;
  // Serves a handler that reads no body: requests with one are answered before the client has sent
  // it. Otherwise as HandlePath.
  virtual Status HandlePathWithoutBody(std::string path, http::Handler handler, bool listed) = 0;
  // Adds a health check. kConflict: a handler of the chain has a check of that name.
  virtual Status AddHealthCheck(HealthCheck check) = 0;
  // Adds a hook that runs once the server answers; Start and /readyz wait for it
  // (poststarthook/<name>). An error is fatal: Run returns it. kConflict: a handler of the chain
  // has a hook of that name. kInvalid: the hooks have run.
  virtual Status AddPostStartHook(std::string name, Hook hook) = 0;
  // Adds a hook that runs first when the server stops, while it still answers. Errors as of
  // AddPostStartHook.
  virtual Status AddPreShutdownHook(std::string name, Hook hook) = 0;
};

// The parts of an additional handler; see GenericAPIServer::AddHandler.
struct HandlerOptions {
  std::string name;  // Errors name the handler by it.
  // The plugins that run in this order on every write to its resources. Nullopt: those of
  // Config::admission, as for the server's own resources.
  std::optional<std::vector<std::shared_ptr<const admission::Plugin>>> admission = std::nullopt;
  // Answers requests for resources that are not installed. Null: they are 404. Sources are asked in
  // the order in which their handlers were added.
  std::shared_ptr<const RouteSource> routes = nullptr;
  // The place of `routes`: before all installed resources, whose requests it may then answer, or
  // after them.
  enum class Place : std::uint8_t { kInFront, kBehind };
  Place place = Place::kBehind;
};

}  // namespace apiserver::inline v0::server
