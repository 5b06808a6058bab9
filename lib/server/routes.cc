#include "server/routes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace apiserver::v0::server {

const Routes::VersionRoutes* Routes::GroupRoutes::Find(std::string_view version) const {
  for (const VersionRoutes& each : versions) {
    if (each.version == version) return &each;
  }
  return nullptr;
}

const Routes::VersionRoutes* Routes::State::Find(std::string_view group,
                                                 std::string_view version) const {
  const auto found = groups.find(group);
  return found == groups.end() ? nullptr : found->second.Find(version);
}

ServedPtr Routes::State::Find(std::string_view group, std::string_view version,
                              std::string_view resource) const {
  const VersionRoutes* const in = Find(group, version);
  if (!in) return nullptr;
  const auto found = in->resources.find(resource);
  return found == in->resources.end() ? nullptr : found->second;
}

ServedPtr& Routes::State::At(const runtime::GroupVersionResource& resource) {
  GroupRoutes& group = groups[resource.group];
  // A group's place is that of its first version; later ones do not move it.
  if (group.versions.empty()) group.came = generation;
  auto version = std::find_if(group.versions.begin(), group.versions.end(),
                              [&](const auto& each) { return each.version == resource.version; });
  if (version == group.versions.end()) {
    version = group.versions.insert(version, {resource.version, 0, {}});
  }
  version->generation = generation;
  return version->resources[resource.resource];
}

ServedPtr Routes::State::Take(const runtime::GroupVersionResource& resource) {
  const auto group = groups.find(resource.group);
  if (group == groups.end()) return nullptr;
  std::vector<VersionRoutes>& versions = group->second.versions;
  const auto version = std::find_if(versions.begin(), versions.end(), [&](const auto& each) {
    return each.version == resource.version;
  });
  if (version == versions.end()) return nullptr;
  const auto found = version->resources.find(resource.resource);
  if (found == version->resources.end()) return nullptr;
  ServedPtr taken = std::move(found->second);
  version->resources.erase(found);
  // A version that loses a resource changes too: its documents must be made anew.
  version->generation = generation;
  if (version->resources.empty()) versions.erase(version);
  if (versions.empty()) groups.erase(group);
  return taken;
}

ServedPtr Routes::Find(const request::RequestInfo& info) const {
  if (!info.is_resource_request) return nullptr;
  // A path under the wrong prefix, such as "/apis/v1", is no resource of the legacy group.
  if (info.api_prefix != (info.api_group.empty() ? "api" : "apis")) return nullptr;
  return state_.Lock()->Find(info.api_group, info.api_version, info.resource);
}

ServedPtr Routes::Find(const runtime::GroupVersionResource& resource) const {
  return state_.Lock()->Find(resource.group, resource.version, resource.resource);
}

bool Routes::Serves(std::string_view group) const { return state_.Lock()->groups.contains(group); }

bool Routes::Serves(std::string_view group, std::string_view version) const {
  return state_.Lock()->Find(group, version) != nullptr;
}

const Owner* Routes::OwnerOf(std::string_view group, std::string_view version) const {
  const auto state = state_.Lock();
  const VersionRoutes* const routes = state->Find(group, version);
  return routes ? OwnerOf(routes->resources) : nullptr;
}

const Owner* Routes::OwnerOf(const Resources& resources) {
  return &resources.begin()->second->owner();
}

std::vector<Routes::OwnedVersion> Routes::VersionsOf(std::string_view group) const {
  std::vector<OwnedVersion> versions;
  const auto state = state_.Lock();
  const auto found = state->groups.find(group);
  if (found == state->groups.end()) return versions;
  for (const VersionRoutes& each : found->second.versions) {
    versions.push_back({each.version, OwnerOf(each.resources)});
  }
  return versions;
}

std::vector<ServedPtr> Routes::VersionsOf(std::string_view group, std::string_view resource) const {
  std::vector<ServedPtr> versions;
  const auto state = state_.Lock();
  const auto found = state->groups.find(group);
  if (found == state->groups.end()) return versions;
  for (const VersionRoutes& each : found->second.versions) {
    const auto served = each.resources.find(resource);
    if (served != each.resources.end()) versions.push_back(served->second);
  }
  return versions;
}

std::vector<ServedPtr> Routes::Change(const std::vector<runtime::GroupVersion>& cleared,
                                      std::vector<ServedPtr> added) {
  // The removed ones are returned and ended by the caller, after the lock is released.
  std::vector<ServedPtr> gone;
  const auto state = state_.Lock();
  ++state->generation;
  // Added before others are removed, so that a group that stays keeps its place.
  std::set<const Served*> kept;
  for (ServedPtr& each : added) {
    kept.insert(each.get());
    ServedPtr& place = state->At(each->installed().resource());
    if (place) gone.push_back(std::move(place));
    place = std::move(each);
  }
  for (const runtime::GroupVersion& version : cleared) {
    const VersionRoutes* const routes = state->Find(version.group, version.version);
    if (!routes) continue;
    std::vector<std::string> names;
    for (const auto& [name, served] : routes->resources) {
      if (!kept.contains(served.get())) names.push_back(name);
    }
    for (const std::string& name : names) {
      gone.push_back(state->Take({version.group, version.version, name}));
    }
  }
  return gone;
}

ServedPtr Routes::Remove(const runtime::GroupVersionResource& resource) {
  const auto state = state_.Lock();
  // Checked first, so that a removal of nothing changes no document.
  if (!state->Find(resource.group, resource.version, resource.resource)) return nullptr;
  ++state->generation;
  return state->Take(resource);
}

Routes::Version Routes::CopyOf(const VersionRoutes& routes) {
  Version copy{routes.version, routes.generation, {}};
  copy.served.reserve(routes.resources.size());
  for (const auto& [name, served] : routes.resources) copy.served.push_back(served);
  return copy;
}

Routes::Snapshot Routes::Take() const {
  const auto state = state_.Lock();
  Snapshot snapshot{state->generation, {}};
  std::vector<std::pair<std::uint64_t, Group>> groups;
  for (const auto& [name, routes] : state->groups) {
    Group group{name, {}};
    for (const VersionRoutes& version : routes.versions) group.versions.push_back(CopyOf(version));
    groups.emplace_back(routes.came, std::move(group));
  }
  // Groups that came in one step stay in the order of their names.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [came, group] : groups) snapshot.groups.push_back(std::move(group));
  return snapshot;
}

Routes::Version Routes::Take(std::string_view group, std::string_view version) const {
  const auto state = state_.Lock();
  const VersionRoutes* const routes = state->Find(group, version);
  // A missing version has the generation of all, so that any change makes the answer stale.
  return routes ? CopyOf(*routes) : Version{std::string(version), state->generation, {}};
}

std::vector<std::string> Routes::Paths() const {
  std::vector<std::string> paths{"/apis"};
  const auto state = state_.Lock();
  for (const auto& [name, group] : state->groups) {
    const std::string root = name.empty() ? "/api" : "/apis/" + name;
    paths.push_back(root);
    for (const VersionRoutes& version : group.versions) {
      paths.push_back(root + "/" + version.version);
    }
  }
  return paths;
}

}  // namespace apiserver::v0::server
