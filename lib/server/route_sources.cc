#include "server/route_sources.h"

#include <algorithm>
#include <utility>

#include "apiserver/runtime/scheme.h"

namespace apiserver::v0::server {

namespace {

// Returns a version that is served.
const discovery::APIVersion* FindIn(const discovery::APIGroup& group, std::string_view version) {
  const auto found = std::ranges::find(group.versions, version, &discovery::APIVersion::version);
  return found == group.versions.end() || found->unserved ? nullptr : &*found;
}

// Merges the versions of `more` into `groups`; `instead`: also in place of present ones. One that
// nobody serves gives way to any other.
void Merge(discovery::APIGroup more, bool instead, std::vector<discovery::APIGroup>& groups) {
  const auto group = std::ranges::find(groups, more.name, &discovery::APIGroup::name);
  if (group == groups.end()) return groups.push_back(std::move(more));
  if (std::ranges::all_of(group->versions, &discovery::APIVersion::unserved)) {
    group->custom = more.custom;
  }
  for (discovery::APIVersion& version : more.versions) {
    const auto present =
        std::ranges::find(group->versions, version.version, &discovery::APIVersion::version);
    if (present == group->versions.end()) {
      group->versions.push_back(std::move(version));
    } else if (present->unserved || (instead && !version.unserved)) {
      *present = std::move(version);
    }
  }
  std::ranges::sort(group->versions, runtime::VersionPreferred, &discovery::APIVersion::version);
}

}  // namespace

std::optional<discovery::APIGroup> RouteSource::FindGroup(std::string_view group) const {
  for (discovery::APIGroup& each : Groups()) {
    if (each.name == group) return std::move(each);
  }
  return std::nullopt;
}

// Asked in order: the first source that has a route wins.
std::shared_ptr<Route> RouteSources::Find(const List& list, const request::RequestInfo& info) {
  for (const auto& source : list) {
    if (std::shared_ptr<Route> route = source->Find(info)) return route;
  }
  return nullptr;
}

std::vector<admission::EquivalentResource> RouteSources::EquivalentsOf(
    const runtime::GroupVersionResource& resource, std::string_view subresource) const {
  for (const auto& source : All()) {
    auto found = source->Equivalents(resource, subresource);
    if (!found.empty()) return found;
  }
  return {};
}

void RouteSources::Forget() {
  for (const auto& source : All()) source->Forget();
}

std::optional<discovery::APIVersion> RouteSources::FindVersion(const List& list,
                                                               std::string_view group,
                                                               std::string_view version) {
  for (const auto& source : list) {
    const auto found = source->FindGroup(group);
    if (!found) continue;
    if (const discovery::APIVersion* const rows = FindIn(*found, version)) return *rows;
  }
  return std::nullopt;
}

std::shared_ptr<const openapi::Document> RouteSources::FindOpenApiV3(const List& list,
                                                                     const std::string& path) {
  for (const auto& source : list) {
    const auto documents = source->OpenApiV3();
    if (const auto found = documents.find(path); found != documents.end()) return found->second;
  }
  return nullptr;
}

RouteSources::List RouteSources::All() const {
  List all = in_front;
  all.insert(all.end(), behind.begin(), behind.end());
  return all;
}

std::uint64_t RouteSources::generation() const {
  // The sum grows whenever one of them does, and so tells a change of any.
  std::uint64_t sum = 0;
  for (const List* const list : {&in_front, &behind}) {
    for (const auto& source : *list) sum += source->generation();
  }
  return sum;
}

bool RouteSources::Show(std::string_view group, std::string_view version) const {
  return std::ranges::any_of(All(), [&](const auto& source) {
    const auto found = source->FindGroup(group);
    return found && (version.empty() || FindIn(*found, version));
  });
}

std::vector<discovery::APIGroup> RouteSources::With(
    std::vector<discovery::APIGroup> installed) const {
  // The source that is asked first is merged last, in place of all others.
  for (auto source = in_front.rbegin(); source != in_front.rend(); ++source) {
    for (discovery::APIGroup& group : (*source)->Groups()) {
      Merge(std::move(group), /*instead=*/true, installed);
    }
  }
  for (const auto& source : behind) {
    for (discovery::APIGroup& group : source->Groups()) {
      Merge(std::move(group), /*instead=*/false, installed);
    }
  }
  Arrange(installed);
  return installed;
}

std::optional<discovery::APIGroup> RouteSources::WithGroup(
    const std::string& name, std::optional<discovery::APIGroup> installed) const {
  std::vector<discovery::APIGroup> groups;
  if (installed) groups.push_back(*std::move(installed));
  for (auto source = in_front.rbegin(); source != in_front.rend(); ++source) {
    if (auto group = (*source)->FindGroup(name)) Merge(*std::move(group), /*instead=*/true, groups);
  }
  for (const auto& source : behind) {
    if (auto group = source->FindGroup(name)) Merge(*std::move(group), /*instead=*/false, groups);
  }
  Arrange(groups);
  return groups.empty() ? std::nullopt : std::optional(std::move(groups.front()));
}

// The source that is asked first has the last word.
void RouteSources::Arrange(std::vector<discovery::APIGroup>& groups) const {
  for (auto source = in_front.rbegin(); source != in_front.rend(); ++source) {
    (*source)->Arrange(groups);
  }
}

std::vector<openapi::FragmentPtr> RouteSources::Fragments(std::string_view group,
                                                          std::string_view version) const {
  for (const auto& source : All()) {
    auto fragments = source->Fragments(group, version);
    if (!fragments.empty()) return fragments;
  }
  return {};
}

std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> RouteSources::AllFragments()
    const {
  std::map<runtime::GroupVersion, std::vector<openapi::FragmentPtr>> all;
  for (const auto& source : All()) all.merge(source->AllFragments());
  return all;
}

std::map<std::string, std::string> RouteSources::With(
    std::map<std::string, std::string> installed) const {
  for (auto source = in_front.rbegin(); source != in_front.rend(); ++source) {
    for (const auto& [path, document] : (*source)->OpenApiV3()) installed[path] = document->etag;
  }
  for (const auto& source : behind) {
    for (const auto& [path, document] : source->OpenApiV3()) {
      installed.emplace(path, document->etag);
    }
  }
  return installed;
}

std::map<std::string, std::string> RouteSources::OpenApiV3Urls() const {
  std::map<std::string, std::string> urls;
  for (const auto& source : in_front) urls.merge(source->OpenApiV3Urls());
  return urls;
}

std::vector<openapi::ForeignV2Ptr> RouteSources::ForeignOpenApiV2() const {
  std::vector<openapi::ForeignV2Ptr> all;
  for (const auto& source : in_front) {
    for (auto& document : source->ForeignOpenApiV2()) all.push_back(std::move(document));
  }
  return all;
}

}  // namespace apiserver::v0::server
