#include <set>
#include <string>
#include <utility>

#include "apiserver/meta/errors.h"
#include "endpoints/handler_span.h"
#include "endpoints/installer.h"

namespace apiserver::inline v0::endpoints {

namespace {

http::Step NotFound() { return meta::NewGenericServerResponse(404, "", {}, ""); }
http::Step NotAllowed() { return meta::NewGenericServerResponse(405, "", {}, ""); }

std::vector<runtime::KindPtr> KindsOf(const Resources& resources) {
  std::vector<runtime::KindPtr> kinds;
  std::set<std::pair<std::string, std::string>> seen;
  for (const auto& [path, resource] : resources) {
    const runtime::KindPtr& kind = resource.scope->kind;
    if (seen.emplace(kind->group(), kind->kind()).second) kinds.push_back(kind);
  }
  return kinds;
}

class Dispatcher final : public Installed {
 public:
  Dispatcher(runtime::GroupVersion group_version, std::string prefix, Resources resources)
      : group_version_(std::move(group_version)),
        prefix_(std::move(prefix)),
        watch_prefix_(prefix_ + "/watch/"),
        resources_(std::move(resources)),
        api_resources_(APIResourcesOf(resources_)),
        routes_(RoutesOf(resources_, prefix_)),
        kinds_(KindsOf(resources_)) {}

  const runtime::GroupVersion& group_version() const override { return group_version_; }
  const std::string& prefix() const override { return prefix_; }
  const std::vector<discovery::APIResource>& resources() const override { return api_resources_; }
  const std::vector<openapi::Route>& routes() const override { return routes_; }

  const std::vector<runtime::KindPtr>& kinds() const override { return kinds_; }

  bool LongRunning(const request::RequestInfo& info, std::string_view method) const override {
    const Resource* resource = Find(info);
    return resource && resource->LongRunning(method);
  }

  std::optional<storage::Stats> StatsOf(const request::RequestInfo& info) const override {
    const auto found = resources_.find(info.resource);
    if (found == resources_.end()) return std::nullopt;
    const rest::StatsProvider* const stats = found->second.scope->capabilities.stats;
    return stats ? stats->GetStats() : std::nullopt;
  }

  http::Step Serve(http::Exchange& exchange) const override {
    const auto& info = exchange.Get<request::RequestInfo>();
    if (!info.is_resource_request || info.parts.empty()) return NotFound();
    const Resource* resource = Find(info);
    if (!resource) return NotFound();
    // Namespaced resources stand below a namespace, or list all; cluster-scoped ones never do.
    const bool namespaced = resource->scope->namespaced;
    if (!namespaced && !info.namespace_.empty()) return NotFound();
    exchange.Set(rest::Namespace{std::string(info.namespace_)});

    if (info.path.starts_with(watch_prefix_)) return Watch(exchange, info, *resource);
    if (info.parts.size() == 1) return Collection(exchange, info, *resource);
    if (namespaced && info.namespace_.empty()) return NotFound();
    const std::size_t own = info.subresource.empty() ? 2 : 3;
    if (info.parts.size() > own && !resource->subpath) return NotFound();
    return Call(*resource, resource->item, exchange);
  }

 private:
  const Resource* Find(const request::RequestInfo& info) const {
    if (info.subresource.empty()) {
      const auto found = resources_.find(info.resource);
      return found == resources_.end() ? nullptr : &found->second;
    }
    const auto found =
        resources_.find(std::string(info.resource).append("/").append(info.subresource));
    return found == resources_.end() ? nullptr : &found->second;
  }

  static http::Step Collection(http::Exchange& exchange, const request::RequestInfo& info,
                               const Resource& resource) {
    const bool all_namespaces = resource.scope->namespaced && info.namespace_.empty();
    // Across all namespaces there is only a list.
    if (all_namespaces && exchange.request().method != "GET") return NotAllowed();
    return Call(resource, resource.collection, exchange);
  }

  static http::Step Watch(http::Exchange& exchange, const request::RequestInfo& info,
                          const Resource& resource) {
    if (!resource.watch || info.parts.size() > 2) return NotFound();
    const bool item = info.parts.size() == 2;
    if (item && resource.scope->namespaced && info.namespace_.empty()) return NotFound();
    if (exchange.request().method != "GET") return NotAllowed();
    StartHandlerSpan(exchange, info);
    return resource.watch(exchange);
  }

  static http::Step Call(const Resource& resource, const Resource::Methods& methods,
                         http::Exchange& exchange) {
    if (methods.empty()) return NotFound();
    const auto found = methods.find(exchange.request().method);
    if (found == methods.end()) return NotAllowed();
    // As upstream, which traces what handlers do, not what streams and proxies go on to do.
    if (!resource.LongRunning(found->first)) {
      StartHandlerSpan(exchange, exchange.Get<request::RequestInfo>());
    }
    return found->second(exchange);
  }

  runtime::GroupVersion group_version_;
  std::string prefix_;
  std::string watch_prefix_;
  Resources resources_;
  std::vector<discovery::APIResource> api_resources_;
  std::vector<openapi::Route> routes_;
  std::vector<runtime::KindPtr> kinds_;
};

}  // namespace

std::shared_ptr<const Installed> NewInstalled(runtime::GroupVersion group_version,
                                              std::string prefix, Resources resources) {
  return std::make_shared<Dispatcher>(std::move(group_version), std::move(prefix),
                                      std::move(resources));
}

}  // namespace apiserver::inline v0::endpoints
