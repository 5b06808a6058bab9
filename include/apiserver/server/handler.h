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

// The serving chain: what the handlers of one server have of their own.
namespace apiserver::inline v0::server {

class GenericAPIServer;

// A group and, per version, its resources.
struct APIGroupInfo {
  std::string group;  // Empty: the legacy group, under /api.
  // By version, then by resource or resource/subresource.
  std::map<std::string, std::map<std::string, std::shared_ptr<rest::Storage>>> storage;
};

// One resource of a version.
struct APIResourceInfo {
  runtime::GroupVersionResource resource;
  // By the resource and resource/subresource.
  std::map<std::string, std::shared_ptr<rest::Storage>> storage;
};

// The argument of a hook.
struct HookContext {
  GenericAPIServer& server;
  Context ctx;  // Cancelled when the server stops.
};
// Each runs on a thread of its own, beside the others, and may wait until its Context is done.
using Hook = std::function<Status(const HookContext&)>;

// Named checks of /healthz, /livez and /readyz.
struct HealthCheck {
  std::string name;
  // Runs on the pool, beside other checks, and may wait until the Context is done. Not twice at a
  // time: those who ask meanwhile share the outcome.
  std::function<Status(const Context&)> check;
  // A check that takes longer has failed, and its Context is done. It is run again once it has
  // returned.
  std::chrono::milliseconds timeout = std::chrono::seconds(5);
  bool healthz = true;
  bool livez = true;
  bool readyz = true;
  // "?exclude=<group>" excludes all checks of a group; empty: of none.
  std::string group = {};
  // /livez takes it for passed until so long after it was added.
  std::chrono::milliseconds livez_grace = std::chrono::milliseconds(0);
};

// One handler of a server's serving chain: resources, paths, health checks and hooks that belong
// together. Handlers share the server's listener, filters, discovery, OpenAPI and lifecycle: a
// client sees one server. The server itself is the first of its handlers and owns the others
// (GenericAPIServer::AddHandler). Methods from any thread.
class Handler {
 public:
  virtual ~Handler() = default;

  // The kinds it serves; add them before InstallAPIGroup. Other handlers do not know them.
  virtual runtime::Scheme& scheme() = 0;
  // Serves a group from now on: routes, discovery and OpenAPI change together. Also while running.
  // kConflict: a version of it is served already, by this handler or by the one that the message
  // names: a group version belongs to one handler. After an error nothing has changed.
  virtual Status InstallAPIGroup(APIGroupInfo group) = 0;
  // The same in place of what the group's versions served before, which goes as RemoveAPIResource()
  // says. kConflict: another handler serves one of them.
  virtual Status ReplaceAPIGroup(APIGroupInfo group) = 0;
  // Serves one resource more, whose kind need not be in the scheme. Costs the same however many
  // there are, and touches no other. kConflict: it is served already, or its version is another
  // handler's.
  virtual Status InstallAPIResource(APIResourceInfo resource) = 0;
  // The same, also in place of the resource as it was served before.
  virtual Status ReplaceAPIResource(APIResourceInfo resource) = 0;
  // Serves a resource no longer: new requests are answered 404, its watches end, those under way
  // are finished. A storage that nothing is served from any more is destroyed on the pool after the
  // last of them, and cannot be installed again. kNotFound: it is not served. kConflict: another
  // handler serves it.
  virtual Status RemoveAPIResource(const runtime::GroupVersionResource& resource) = 0;
  // Serves `handler` at `path` outside the APIs, after authorization; a path that ends in '/' is a
  // prefix. `listed`: appears in the index. kConflict: taken, by whichever handler. Handlers run on
  // a loop and must not wait there: see http::Handler.
  virtual Status HandlePath(std::string path, http::Handler handler, bool listed) = 0;
  // As HandlePath, for a handler that reads no body: requests with one are answered before the
  // client has sent it.
  virtual Status HandlePathWithoutBody(std::string path, http::Handler handler, bool listed) = 0;
  // kConflict: there is a check of that name, whichever handler's.
  virtual Status AddHealthCheck(HealthCheck check) = 0;
  // Runs once the server answers; Start and /readyz wait for it (poststarthook/<name>). An error is
  // fatal: Run returns it. kConflict: there is a hook of that name, whichever handler's. kInvalid:
  // they have run.
  virtual Status AddPostStartHook(std::string name, Hook hook) = 0;
  // Runs first when the server stops, while it still answers. Errors as of AddPostStartHook.
  virtual Status AddPreShutdownHook(std::string name, Hook hook) = 0;
};

// The parts of a further handler; see GenericAPIServer::AddHandler.
struct HandlerOptions {
  std::string name;  // By which errors call it.
  // Run in this order on every write to its resources. Nullopt: Config::admission, as the server's
  // own resources have it.
  std::optional<std::vector<std::shared_ptr<const admission::Plugin>>> admission = std::nullopt;
  // Answers requests to what is not installed; null: nothing does. Sources are asked in the order
  // in which their handlers were added.
  std::shared_ptr<const RouteSource> routes = nullptr;
  // Asked before all that is installed, in whose place it may answer, or after it.
  enum class Place : std::uint8_t { kInFront, kBehind };
  Place place = Place::kBehind;
};

}  // namespace apiserver::inline v0::server
