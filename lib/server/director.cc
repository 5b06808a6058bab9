// The director: finds the route, path or document that answers a request, among those of all
// handlers of the serving chain.

#include <algorithm>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "server/filters/filters.h"
#include "server/generic_api_server.h"
#include "server/page_not_found.h"

namespace apiserver::v0::server {

namespace {

// The error of k8s.io/apiserver/pkg/util/notfoundhandler.
Status NotInstalledYet() {
  return meta::NewServiceUnavailable(
             "the request has been made before all known HTTP paths have been installed, please "
             "try again")
      .WithDetails({.retry_after_seconds = 5});
}

// Returns the group that "/apis/<group>/…" names. Empty: none.
std::string_view GroupIn(std::string_view path) {
  constexpr std::string_view kApis = "/apis/";
  if (!path.starts_with(kApis)) return {};
  path.remove_prefix(kApis.size());
  return path.substr(0, path.find('/'));
}

}  // namespace

std::shared_ptr<Route> Server::FindRoute(const request::RequestInfo& info) const {
  if (auto route = RouteSources::Find(sources_.in_front, info)) return route;
  if (ServedPtr served = routes_.Find(info)) return served;
  // A version that is installed is served by nothing else.
  const bool api = info.is_resource_request && routes_.Serves(info.api_group, info.api_version);
  return api ? nullptr : RouteSources::Find(sources_.behind, info);
}

bool Server::IsLongRunning(const request::RequestInfo& info, std::string_view method) const {
  const auto route = FindRoute(info);
  return route && route->LongRunning(info, method);
}

bool Server::IsInstalled(const request::RequestInfo& info) const {
  const auto route = FindRoute(info);
  return route && route->IsResource(info);
}

Result<storage::Stats> Server::StatsOf(const request::RequestInfo& info) const {
  const auto route = FindRoute(info);
  const auto stats = route ? route->GetStats() : std::nullopt;
  if (!stats) return Status(Reason::kNotFound, "");
  return *stats;
}

Server::Target Server::TargetOf(const http::Exchange& exchange) const {
  Target target;
  const auto* const info = exchange.Find<request::RequestInfo>();
  if (info) target.route = RouteSources::Find(sources_.in_front, *info);
  if (target.route) return target;
  if (info && info->is_resource_request) {
    target.route = routes_.Find(*info);
    // A version with installed resources is complete: no source behind is asked for it.
    target.api = target.route || routes_.Serves(info->api_group, info->api_version);
    if (target.api) return target;
  }
  const std::string& path = exchange.request().path;
  target.discovery = path == "/apis" || path.starts_with("/apis/") || path == "/api" ||
                     path == "/api/" ||
                     (path.starts_with("/api/") && documents_->KnowsDiscovery(path));
  if (!target.discovery) target.path = mux_.Find(path);
  if (!info || target.path.handler || sources_.behind.empty()) return target;
  if (target.discovery && documents_->KnowsDiscovery(path)) return target;
  target.route = RouteSources::Find(sources_.behind, *info);
  return target;
}

http::Step Server::Direct(http::Exchange& exchange) const {
  return Serve(TargetOf(exchange), exchange);
}

http::Step Server::BeforeBody(http::Exchange& exchange) const {
  const Target target = TargetOf(exchange);
  if (target.route) {
    RETURN_IF_ERROR(target.route->CheckBeforeBody(exchange));
    return http::Step::Next();
  }
  return target.path.reads_body ? http::Step::Next() : Serve(target, exchange);
}

http::Step Server::ServePublicPath(http::Exchange& exchange) const {
  const PathMux::Found found = mux_.FindPublic(exchange.request().path);
  return found.handler ? (*found.handler)(exchange) : http::Step::Next();
}

http::Step Server::Serve(const Target& target, http::Exchange& exchange) const {
  if (target.route) {
    // Keeps the route alive as long as the exchange.
    exchange.Set(target.route);
    return target.route->Serve(exchange);
  }
  if (target.api) return meta::NewGenericServerResponse(404, "", {}, "");
  // GET and HEAD did not come as far as here.
  if (target.path.is_public) return meta::NewGenericServerResponse(405, "", {}, "");
  if (target.path.handler) return (*target.path.handler)(exchange);
  return target.discovery ? ServeDiscovery(exchange) : NotFound(exchange);
}

http::Step Server::ServeDiscovery(http::Exchange& exchange) const {
  const bool known = documents_->KnowsDiscovery(exchange.request().path);
  if (!known && exchange.Find<BeforeMuxComplete>()) return NotInstalledYet();
  // Below an installed group the API answers, whatever is asked for.
  const std::string_view group = GroupIn(exchange.request().path);
  const bool own = known || (!group.empty() && routes_.Serves(group));
  if (!own && !config_.index_of_unknown_paths) return PageNotFound(exchange);
  // An unknown path is 404 for every method, not 405.
  if (known && exchange.request().method != "GET") {
    return meta::NewGenericServerResponse(405, "", {}, "");
  }
  return documents_->ServeDiscovery(exchange);
}

http::Step Server::NotFound(http::Exchange& exchange) const {
  if (exchange.Find<BeforeMuxComplete>()) return NotInstalledYet();
  return config_.index_of_unknown_paths ? ServeIndex(exchange, 404) : PageNotFound(exchange);
}

http::Step Server::ServeIndex(http::Exchange& exchange, int code) const {
  std::vector<std::string> paths = mux_.ListedPaths();
  const std::vector<std::string> api_paths = routes_.Paths();
  paths.insert(paths.end(), api_paths.begin(), api_paths.end());
  for (const discovery::APIGroup& group : sources_.With(std::vector<discovery::APIGroup>())) {
    const std::string root = group.name.empty() ? "/api" : "/apis/" + group.name;
    paths.push_back(root);
    for (const auto& version : group.versions) paths.push_back(root + "/" + version.version);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  std::string json = "{\n  \"paths\": [";
  for (const std::string& path : paths) {
    json += json.back() == '[' ? "\n    " : ",\n    ";
    codec::AppendJsonString(path, json);
  }
  json += "\n  ]\n}";
  exchange.writer().Send({.code = code, .headers = {{"Content-Type", "application/json"}}},
                         http::Bytes(std::move(json)));
  return http::Step::Done();
}

}  // namespace apiserver::v0::server
