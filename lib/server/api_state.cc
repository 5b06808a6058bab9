#include "server/api_state.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "server/discovery_routes.h"

namespace apiserver::inline v0::server {

namespace {

using InstalledList = std::vector<std::shared_ptr<const endpoints::Installed>>;

// Groups in the order of their first version; versions in the scheme's order, those without
// resources left out.
std::vector<discovery::APIGroup> GroupsOf(const InstalledList& installed,
                                          const runtime::Scheme::Snapshot& scheme) {
  std::vector<discovery::APIGroup> groups;
  std::set<std::string> seen;
  for (const auto& first : installed) {
    const std::string& name = first->group_version().group;
    if (!seen.insert(name).second) continue;
    discovery::APIGroup group{.name = name, .versions = {}};
    for (const std::string& version : scheme.versions(name)) {
      for (const auto& each : installed) {
        if (each->group_version() != runtime::GroupVersion{name, version}) continue;
        if (each->resources().empty()) continue;
        group.versions.push_back({.version = version, .resources = each->resources()});
      }
    }
    if (!group.versions.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

// The scheme's, and those that only subresources have: autoscaling/v1 Scale.
std::vector<runtime::KindPtr> KindsOf(const InstalledList& installed,
                                      const runtime::Scheme::Snapshot& scheme) {
  std::vector<runtime::KindPtr> kinds = scheme.kinds();
  std::set<std::pair<std::string, std::string>> seen;
  for (const runtime::KindPtr& kind : kinds) seen.emplace(kind->group(), kind->kind());
  for (const auto& each : installed) {
    for (const runtime::KindPtr& kind : each->kinds()) {
      if (seen.emplace(kind->group(), kind->kind()).second) kinds.push_back(kind);
    }
  }
  return kinds;
}

}  // namespace

Result<std::shared_ptr<const ApiState>> ApiState::New(InstalledList installed,
                                                      const runtime::Scheme::Snapshot& scheme,
                                                      const Options& options) {
  auto state = std::make_shared<ApiState>();
  openapi::Input input{.info = options.info, .kinds = KindsOf(installed, scheme), .routes = {}};
  input.routes = options.extra_routes;
  const std::vector<discovery::APIGroup> groups = GroupsOf(installed, scheme);
  for (openapi::Route& route : DiscoveryRoutes(groups)) input.routes.push_back(std::move(route));
  for (const auto& each : installed) {
    input.routes.insert(input.routes.end(), each->routes().begin(), each->routes().end());
  }
  ASSIGN_OR_RETURN(state->openapi_, openapi::Build(input));
  state->discovery_ = discovery::NewDocuments(groups, options.server_address);
  state->installed_ = std::move(installed);
  return state;
}

const endpoints::Installed* ApiState::Find(std::string_view path) const {
  for (const auto& each : installed_) {
    const std::string& prefix = each->prefix();
    if (!path.starts_with(prefix)) continue;
    if (path.size() == prefix.size() || path[prefix.size()] == '/') return each.get();
  }
  return nullptr;
}

std::vector<std::string> ApiState::Paths() const {
  std::set<std::string> paths{"/apis"};
  for (const auto& each : installed_) {
    const std::string& group = each->group_version().group;
    paths.insert(group.empty() ? "/api" : "/apis/" + group);
    paths.insert(each->prefix());
  }
  return {paths.begin(), paths.end()};
}

}  // namespace apiserver::inline v0::server
