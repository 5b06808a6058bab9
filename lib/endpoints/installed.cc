#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "endpoints/handler_span.h"
#include "endpoints/installer.h"
#include "endpoints/warn.h"

namespace apiserver::v0::endpoints {

namespace {

Status NotFound() { return meta::NewGenericServerResponse(404, "", {}, ""); }
Status NotAllowed() { return meta::NewGenericServerResponse(405, "", {}, ""); }

bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Returns the part of the path between the prefix of the group version and the resource.
std::string_view LeadOf(const request::RequestInfo& info, std::string_view prefix) {
  std::string_view path = info.path;
  if (!Take(path, prefix)) return {};
  return path.substr(0, static_cast<std::size_t>(info.parts.front().data() - path.data()));
}

// Returns the kind of URL of `resource` that this is. nullopt: none. RequestInfo removes more of a
// path than routes have in it ("proxy/"), and may take a name from a field selector, so each part
// of the path is compared.
std::optional<Where> WhereOf(const request::RequestInfo& info, const Resource& resource,
                             std::string_view prefix) {
  std::string_view lead = LeadOf(info, prefix);
  const bool watch_path = Take(lead, "/watch");
  const bool namespaced = resource.scope->namespaced;
  if (namespaced) {
    const bool in_one = Take(lead, "/namespaces/");
    if (in_one ? !Take(lead, info.namespace_) : !info.namespace_.empty()) return {};
  }
  if (lead != "/") return {};

  const bool item = info.parts.size() > 1;
  if (!item) return watch_path ? Where::kWatchPath : Where::kCollection;
  if (info.name.empty() || info.name != info.parts[1]) return {};
  // A namespace is named as the request's namespace too.
  const bool own = info.resource == "namespaces" && info.namespace_ == info.name;
  if (namespaced ? info.namespace_.empty() : !info.namespace_.empty() && !own) return {};
  if (watch_path) return info.parts.size() == 2 ? std::optional(Where::kWatchPath) : std::nullopt;
  const std::size_t known = info.subresource.empty() ? 2 : 3;
  if (info.parts.size() > known && !resource.subpath) return {};
  return Where::kItem;
}

// Returns each kind once, in the order of the resources.
std::vector<runtime::KindPtr> KindsOf(const Resources& resources) {
  std::vector<runtime::KindPtr> kinds;
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& [path, resource] : resources) {
    const runtime::KindPtr& kind = resource.scope->kind;
    if (seen.emplace(kind->group(), kind->kind()).second) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<std::shared_ptr<rest::Storage>> StoragesOf(const Resources& resources) {
  std::vector<std::shared_ptr<rest::Storage>> storages;
  for (const auto& [path, resource] : resources) storages.push_back(resource.scope->storage);
  return storages;
}

class Dispatcher final : public Installed {
 public:
  Dispatcher(runtime::GroupVersionResource resource, std::string prefix, Resources resources)
      : resource_(std::move(resource)),
        prefix_(std::move(prefix)),
        resources_(std::move(resources)),
        api_resources_(APIResourcesOf(resources_)),
        kinds_(KindsOf(resources_)),
        storages_(StoragesOf(resources_)) {}

  const runtime::GroupVersionResource& resource() const override { return resource_; }
  const std::vector<discovery::APIResource>& resources() const override { return api_resources_; }
  std::vector<openapi::Route> Routes() const override { return RoutesOf(resources_, prefix_); }
  const std::vector<runtime::KindPtr>& kinds() const override { return kinds_; }
  const std::vector<std::shared_ptr<rest::Storage>>& storages() const override { return storages_; }

  bool LongRunning(const request::RequestInfo& info, std::string_view method) const override {
    const Resource* const resource = ResourceOf(info);
    if (!resource) return false;
    const auto action = Find(*resource, info, method);
    return action.ok() && (*action)->long_running;
  }

  std::optional<storage::Stats> GetStats() const override {
    const auto found = resources_.find(resource_.resource);
    if (found == resources_.end()) return std::nullopt;
    const rest::StatsProvider* const stats = found->second.scope->capabilities.stats;
    return stats ? stats->GetStats() : std::nullopt;
  }

  // Chooses again, as Serve() does later: the two run in different filters, and the result is
  // cheap.
  Status CheckBeforeBody(http::Exchange& exchange) const override {
    ASSIGN_OR_RETURN(const Found found, Choose(exchange));
    const BodyCheck check = found.action->check;
    return check ? check(*found.resource->scope, exchange) : Status();
  }

  http::Step Serve(http::Exchange& exchange) const override {
    ASSIGN_OR_RETURN(const Found found, Choose(exchange));
    const Action& action = *found.action;
    // Only handlers are traced, as upstream, not the streams and proxies that they start.
    if (!action.long_running) StartHandlerSpan(exchange, exchange.Get<request::RequestInfo>());
    return action.handler(exchange);
  }

 private:
  struct Found {
    const Resource* resource;
    const Action* action;
  };

  // Finds the action. It also sets the namespace, for the storages and for the metrics, which count
  // requests for installed resources even if they have no such method, and warns of a deprecated
  // version, as upstream does whatever the outcome.
  Result<Found> Choose(http::Exchange& exchange) const {
    const auto& info = exchange.Get<request::RequestInfo>();
    const Resource* const resource = ResourceOf(info);
    if (!resource) return NotFound();
    if (!exchange.Find<rest::Namespace>()) {
      exchange.Set(rest::Namespace{std::string(info.namespace_)});
    }
    const bool by_verb = exchange.Find<ByVerb>() != nullptr;
    ASSIGN_OR_RETURN(const Action* const action,
                     Find(*resource, info, exchange.request().method, by_verb));
    if (const auto& deprecation = resource->scope->deprecation) Warn(exchange, deprecation);
    return Found{resource, action};
  }

  // Returns null if no such resource is installed, or it is no resource request.
  const Resource* ResourceOf(const request::RequestInfo& info) const {
    if (!info.is_resource_request) return nullptr;
    auto found = resources_.find(info.resource);
    // Only the subresource needs a text to be built; most requests have none.
    if (!info.subresource.empty()) {
      found = resources_.find(std::string(info.resource).append("/").append(info.subresource));
    }
    return found == resources_.end() ? nullptr : &found->second;
  }

  // Decides which action answers a request. This is the only place that does: authorization was
  // asked about `info`, and an action is found only if `info` says all that the action stands for.
  // So the request that is served is the one that was authorized.
  Result<const Action*> Find(const Resource& resource, const request::RequestInfo& info,
                             std::string_view method, bool by_verb = false) const {
    auto where = WhereOf(info, resource, prefix_);
    if (!where) return NotFound();
    if (by_verb && method == "HEAD") method = "GET";
    // The handler sees to it that the object has the name of the path.
    if (by_verb && method == "POST") where = Where::kCollection;
    // Across all namespaces there are only lists and watches.
    const bool only_get = resource.scope->namespaced && info.namespace_.empty();
    bool some = false;
    // True if an action of this URL and method stands for another verb than was authorized.
    bool judged_otherwise = false;
    for (const Action& action : resource.actions) {
      if (action.where != *where) continue;
      some = true;
      if (action.method != method || (only_get && method != "GET")) continue;
      if (action.verb == info.verb) return &action;
      judged_otherwise = true;
    }
    return some && !judged_otherwise ? NotAllowed() : NotFound();
  }

  const runtime::GroupVersionResource resource_;
  const std::string prefix_;  // The prefix of the group version.
  const Resources resources_;
  const std::vector<discovery::APIResource> api_resources_;
  const std::vector<runtime::KindPtr> kinds_;
  const std::vector<std::shared_ptr<rest::Storage>> storages_;
};

}  // namespace

std::shared_ptr<const Installed> NewInstalled(runtime::GroupVersionResource resource,
                                              std::string prefix, Resources resources) {
  return std::make_shared<Dispatcher>(std::move(resource), std::move(prefix), std::move(resources));
}

}  // namespace apiserver::v0::endpoints
