#include "server/api_documents.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/response/response.h"
#include "server/discovery_routes.h"
#include "server/openapi_handlers.h"

namespace apiserver::v0::server {

namespace {

// The version of documents whose contents never change.
constexpr std::uint64_t kOnly = 1;

std::string RootOf(std::string_view group) {
  return group.empty() ? "api" : "apis/" + std::string(group);
}

std::string_view WithoutSlash(std::string_view path) {
  if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

// The group and the version in a path of discovery or of v3, without its leading slash.
struct Names {
  bool known = false;       // "api", "apis" or what is below.
  std::string group;        // Empty: the legacy group, or "apis".
  std::string version;      // Empty: the path has none.
  bool all_groups = false;  // "apis".
};

Names NamesIn(std::string_view path) {
  Names names;
  const auto next = [&path] {
    const std::size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
    return std::string(part);
  };
  const std::string root = next();
  if (root != "api" && root != "apis") return names;
  if (root == "apis") {
    names.group = next();
    names.all_groups = names.group.empty();
  }
  names.version = next();
  names.known = path.empty() && (!names.all_groups || names.version.empty());
  return names;
}

// Orders the versions as their handler's scheme does; versions that are not in it follow, the
// preferred ones first. Handlers do not know each other's order: versions of several handlers are
// ordered by preference.
std::vector<std::string> Ordered(const std::vector<Routes::OwnedVersion>& owned,
                                 std::string_view group) {
  std::vector<std::string> versions;
  versions.reserve(owned.size());
  for (const Routes::OwnedVersion& each : owned) versions.push_back(each.version);
  const bool one_owner = std::all_of(owned.begin(), owned.end(), [&owned](const auto& each) {
    return each.owner == owned.front().owner;
  });
  std::vector<std::string> ordered;
  if (one_owner && !owned.empty()) {
    for (std::string& version : owned.front().owner->scheme().snapshot()->versions(group)) {
      if (std::erase(versions, version) > 0) ordered.push_back(std::move(version));
    }
  }
  std::sort(versions.begin(), versions.end(), runtime::VersionPreferred);
  ordered.insert(ordered.end(), versions.begin(), versions.end());
  return ordered;
}

discovery::APIVersion RowsOf(const Routes::Version& version) {
  discovery::APIVersion rows{.version = version.version, .resources = {}};
  for (const ServedPtr& served : version.served) {
    const auto& resources = served->installed().resources();
    rows.resources.insert(rows.resources.end(), resources.begin(), resources.end());
  }
  return rows;
}

std::vector<discovery::APIGroup> GroupsOf(const Routes::Snapshot& snapshot) {
  std::vector<discovery::APIGroup> groups;
  for (const Routes::Group& group : snapshot.groups) {
    discovery::APIGroup shown{.name = group.name, .versions = {}};
    std::vector<Routes::OwnedVersion> owned;
    for (const Routes::Version& each : group.versions) {
      owned.push_back({each.version, &each.served.front()->owner()});
    }
    for (const std::string& name : Ordered(owned, group.name)) {
      const auto version = std::find_if(group.versions.begin(), group.versions.end(),
                                        [&name](const auto& each) { return each.version == name; });
      shown.versions.push_back(RowsOf(*version));
    }
    groups.push_back(std::move(shown));
  }
  return groups;
}

// Returns the part of a group that the routes of discovery need.
discovery::APIGroup GroupNamed(std::string name, std::string version) {
  discovery::APIGroup group{.name = std::move(name), .versions = {}};
  if (!version.empty()) group.versions.push_back({.version = std::move(version), .resources = {}});
  return group;
}

// Returns the routes that belong to the document of v3 at `path`.
std::vector<openapi::Route> Only(std::vector<openapi::Route> routes, const std::string& path) {
  std::erase_if(routes, [&path](const auto& route) { return openapi::V3PathOf(route) != path; });
  return routes;
}

}  // namespace

ApiDocuments::ApiDocuments(Needs needs)
    : needs_(std::move(needs)),
      roots_(std::make_shared<Roots>(needs_.pool, [this] { return MakeRoots(); })),
      v2_(std::make_shared<OpenApiV2>(needs_.pool, [this] { return MakeV2(); })),
      v3_index_(std::make_shared<OpenApi>(needs_.pool, [this] { return MakeIndex(); })),
      fragments_(needs_.pool) {}

bool ApiDocuments::KnowsDiscovery(std::string_view path) const {
  const Names names = NamesIn(WithoutSlash(path).substr(1));
  if (!names.known || names.all_groups) return names.known;
  const bool installed = names.version.empty() ? needs_.routes.Serves(names.group)
                                               : needs_.routes.Serves(names.group, names.version);
  return installed || needs_.sources.Show(names.group, names.version);
}

std::optional<std::string> ApiDocuments::GroupJson(const std::string& group) const {
  discovery::APIGroup shown{.name = group, .versions = {}};
  for (std::string& version : Ordered(needs_.routes.VersionsOf(group), group)) {
    shown.versions.push_back({.version = std::move(version), .resources = {}});
  }
  const bool installed = !shown.versions.empty();
  const auto merged =
      needs_.sources.WithGroup(group, installed ? std::optional(std::move(shown)) : std::nullopt);
  return merged ? std::optional(discovery::APIGroupJson(*merged)) : std::nullopt;
}

http::Step ApiDocuments::ServeDiscovery(http::Exchange& exchange) {
  const Names names = NamesIn(WithoutSlash(exchange.request().path).substr(1));
  if (names.known && names.version.empty() && names.group.empty()) {
    return roots_->Serve(
        Generation(), [&exchange](const Roots::Ptr& roots) { return (*roots)->Serve(exchange); });
  }
  if (names.known && !names.version.empty()) {
    return ServeVersion(exchange, names.group, names.version);
  }
  auto json = names.known ? GroupJson(names.group) : std::nullopt;
  if (!json) return meta::NewGenericServerResponse(404, "", {}, "");
  return response::WriteJson(exchange, 200, std::make_shared<const std::string>(*std::move(json)));
}

http::Step ApiDocuments::ServeVersion(http::Exchange& exchange, const std::string& group,
                                      const std::string& name) {
  const auto write = [&exchange](const std::shared_ptr<const std::string>& json) {
    return response::WriteJson(exchange, 200, json);
  };
  const auto shown = [&](const RouteSources::List& list) -> Text::Ptr {
    const auto version = RouteSources::FindVersion(list, group, name);
    if (!version) return nullptr;
    return std::make_shared<const std::string>(discovery::APIResourceListJson(group, *version));
  };
  // The sources in front come first, then installed resources, then the sources behind: as requests
  // are routed.
  if (const auto json = shown(needs_.sources.in_front)) return write(json);
  const Routes::Version version = needs_.routes.Take(group, name);
  if (!version.served.empty()) {
    const Part part = PartOf(group, version);
    return part.slot.discovery->Serve(part.version, write);
  }
  if (const auto json = shown(needs_.sources.behind)) return write(json);
  return meta::NewGenericServerResponse(404, "", {}, "");
}

http::Step ApiDocuments::ServeOpenApiV2(http::Exchange& exchange) {
  return v2_->Serve(Generation(), [&exchange](const OpenApiV2::Ptr& document) {
    return SendOpenApiV2(exchange, *document);
  });
}

http::Step ApiDocuments::ServeOpenApiV3(http::Exchange& exchange) {
  const std::string_view path = exchange.request().path;
  if (path.size() <= openapi::kV3Prefix.size()) {
    return v3_index_->Serve(Generation(), [&exchange](const OpenApi::Ptr& index) {
      return SendOpenApiV3Index(exchange, index);
    });
  }
  const std::string name(path.substr(openapi::kV3Prefix.size()));
  const auto send = [&exchange, clock = &needs_.clock](const OpenApi::Ptr& document) {
    return SendOpenApiV3(exchange, document, *clock);
  };
  if (const auto document = RouteSources::FindOpenApiV3(needs_.sources.in_front, name)) {
    return send(document);
  }
  if (const auto part = FindPart(name)) return part->slot.v3->Serve(part->version, send);
  if (const auto document = RouteSources::FindOpenApiV3(needs_.sources.behind, name)) {
    return send(document);
  }
  const Names names = NamesIn(name);
  if (names.known && !names.version.empty()) {
    auto fragments = needs_.sources.Fragments(names.group, names.version);
    if (!fragments.empty()) {
      return fragments_.Of({names.group, names.version}, std::move(fragments))
          ->Serve(FragmentDocuments::kVersion, send);
    }
  }
  return SendNoOpenApi(exchange);
}

ApiDocuments::Part ApiDocuments::PartOf(std::string_view group, const Routes::Version& version) {
  const std::string path = RootOf(group) + "/" + version.version;
  const auto slots = slots_.Lock();
  Slot& slot = (*slots)[path];
  if (!slot.v3) {
    const auto make_v3 = [this, group = std::string(group), version = version.version] {
      return MakeV3(group, version);
    };
    const auto make_discovery = [this, group = std::string(group), version = version.version] {
      return MakeDiscovery(group, version);
    };
    slot = {std::make_shared<OpenApi>(needs_.pool, make_v3),
            std::make_shared<Text>(needs_.pool, make_discovery)};
  }
  return {slot, version.generation};
}

ApiDocuments::Part ApiDocuments::PartOf(std::string_view path) {
  const auto slots = slots_.Lock();
  Slot& slot = (*slots)[std::string(path)];
  if (!slot.v3) {
    slot.v3 = std::make_shared<OpenApi>(needs_.pool,
                                        [this, path = std::string(path)] { return MakeV3(path); });
  }
  return {slot, kOnly};
}

std::optional<ApiDocuments::Part> ApiDocuments::FindPart(std::string_view path) {
  const Names names = NamesIn(path);
  if (!names.version.empty()) {
    const Routes::Version version = needs_.routes.Take(names.group, names.version);
    if (!names.known || version.served.empty()) return std::nullopt;
    return PartOf(names.group, version);
  }
  const bool extra =
      std::any_of(needs_.extra_routes.begin(), needs_.extra_routes.end(),
                  [path](const auto& route) { return openapi::V3PathOf(route) == path; });
  const bool own = names.known && (names.all_groups || needs_.routes.Serves(names.group));
  return extra || own ? std::optional(PartOf(path)) : std::nullopt;
}

std::map<std::string, ApiDocuments::Part> ApiDocuments::AllParts() {
  std::map<std::string, Part> parts;
  const auto add = [&](const std::string& path) { parts.emplace(path, PartOf(path)); };
  add("apis");
  for (const openapi::Route& route : needs_.extra_routes) add(openapi::V3PathOf(route));
  for (const Routes::Group& group : needs_.routes.Take().groups) {
    const std::string root = RootOf(group.name);
    add(root);
    for (const Routes::Version& version : group.versions) {
      parts.emplace(root + "/" + version.version, PartOf(group.name, version));
    }
  }
  // Forgotten here, and not on each removal: a version that comes back soon keeps its slot until
  // the next index.
  const auto slots = slots_.Lock();
  std::erase_if(*slots, [&parts](const auto& slot) { return !parts.contains(slot.first); });
  return parts;
}

ApiDocuments::Roots::Made ApiDocuments::MakeRoots() const {
  // Taken before the groups: a change that comes meanwhile is in the next document.
  const std::uint64_t generation = needs_.sources.generation();
  const Routes::Snapshot snapshot = needs_.routes.Take();
  auto roots =
      discovery::NewRoots(needs_.sources.With(GroupsOf(snapshot)), needs_.server_address());
  return {std::make_shared<const std::shared_ptr<const discovery::Roots>>(std::move(roots)),
          generation + snapshot.generation};
}

ApiDocuments::Text::Made ApiDocuments::MakeDiscovery(const std::string& group,
                                                     const std::string& version) const {
  const Routes::Version taken = needs_.routes.Take(group, version);
  std::string json = discovery::APIResourceListJson(group, RowsOf(taken));
  return {std::make_shared<const std::string>(std::move(json)), taken.generation};
}

ApiDocuments::OpenApiV2::Made ApiDocuments::MakeV2() {
  // Taken before the fragments: a change that comes meanwhile is in the next document.
  const std::uint64_t generation = needs_.sources.generation();
  const Routes::Snapshot snapshot = needs_.routes.Take();
  std::vector<openapi::FragmentPtr> fragments;
  std::vector<openapi::ForeignV2Ptr> foreign = needs_.sources.ForeignOpenApiV2();
  for (auto& [version, own] : needs_.sources.AllFragments()) {
    std::erase_if(foreign, [&of = version](const auto& each) { return each->version == of; });
    std::move(own.begin(), own.end(), std::back_inserter(fragments));
  }
  auto base = BaseOf(snapshot, fragments, foreign);
  auto merged = foreign_.Merged(base, fragments, foreign);
  std::move(merged.begin(), merged.end(), std::back_inserter(fragments));
  return {std::make_shared<const V2Document>(std::move(base), std::move(fragments)),
          generation + snapshot.generation};
}

// Adding a fragment does not make the base anew: that has only the definitions they refer to.
std::shared_ptr<const openapi::V2Base> ApiDocuments::BaseOf(
    const Routes::Snapshot& snapshot, const std::vector<openapi::FragmentPtr>& fragments,
    const std::vector<openapi::ForeignV2Ptr>& foreign) {
  std::string of;
  std::vector<ServedPtr> all;
  for (const Routes::Group& group : snapshot.groups) {
    for (const Routes::Version& version : group.versions) {
      of.append(group.name).append("/").append(version.version).append(" ");
      of.append(std::to_string(version.generation)).append("\n");
      all.insert(all.end(), version.served.begin(), version.served.end());
    }
  }
  std::set<std::string_view> references;
  std::vector<openapi::FragmentPtr> referring;
  for (const openapi::FragmentPtr& fragment : fragments) {
    bool more = false;
    for (const std::string_view name : fragment->References()) {
      more |= references.insert(name).second;
    }
    if (more) referring.push_back(fragment);
  }
  for (const std::string_view name : references) of.append(name).append("\n");
  std::set<runtime::GroupVersion> versions;
  for (const openapi::ForeignV2Ptr& each : foreign) versions.insert(each->version);
  for (const auto& [group, version] : versions) of.append(group).append("/").append(version);
  {
    const auto kept = v2_base_.Lock();
    if (kept->base && kept->of == of) return kept->base;
  }
  openapi::Input input = InputOf(needs_.owners(), all);
  input.fragments = std::move(referring);
  input.fragment_versions.assign(versions.begin(), versions.end());
  std::vector<openapi::Route> more = DiscoveryRoutes(GroupsOf(snapshot));
  more.insert(more.end(), needs_.extra_routes.begin(), needs_.extra_routes.end());
  std::move(more.begin(), more.end(), std::back_inserter(input.routes));
  auto base = std::make_shared<const openapi::V2Base>(openapi::BuildV2Base(input));
  *v2_base_.Lock() = {std::move(of), base};
  return base;
}

ApiDocuments::OpenApi::Made ApiDocuments::MakeV3(const std::string& group,
                                                 const std::string& version) const {
  const Routes::Version taken = needs_.routes.Take(group, version);
  // Only its handler's kinds: those of another may have definitions of the same names.
  std::vector<const Owner*> owners;
  if (!taken.served.empty()) owners.push_back(&taken.served.front()->owner());
  openapi::Input input = InputOf(owners, taken.served);
  auto own = Only(DiscoveryRoutes({GroupNamed(group, version)}), RootOf(group) + "/" + version);
  std::move(own.begin(), own.end(), std::back_inserter(input.routes));
  return {std::make_shared<const openapi::Document>(openapi::BuildV3(input)), taken.generation};
}

ApiDocuments::OpenApi::Made ApiDocuments::MakeV3(const std::string& path) const {
  const Names names = NamesIn(path);
  std::vector<discovery::APIGroup> groups;
  if (names.known && !names.all_groups) groups.push_back(GroupNamed(names.group, ""));
  openapi::Input input = InputOf(needs_.owners(), {});
  input.routes = Only(DiscoveryRoutes(groups), path);
  const auto extra = Only(needs_.extra_routes, path);
  input.routes.insert(input.routes.end(), extra.begin(), extra.end());
  return {std::make_shared<const openapi::Document>(openapi::BuildV3(input)), kOnly};
}

ApiDocuments::OpenApi::Made ApiDocuments::MakeIndex() {
  // Taken before the parts: a change that comes meanwhile is in the next index.
  const std::uint64_t generation = Generation();
  std::map<std::string, std::string> etags;
  for (const auto& [path, part] : AllParts()) {
    // Null: there is no memory for it, or it has gone meanwhile.
    if (const auto document = part.slot.v3->Get(part.version)) {
      etags.emplace(path, document->etag);
    }
  }
  etags = needs_.sources.With(std::move(etags));
  for (const auto& [version, fragments] : needs_.sources.AllFragments()) {
    etags.emplace(RootOf(version.group) + "/" + version.version, openapi::EtagOf(fragments));
  }
  return {std::make_shared<const openapi::Document>(
              openapi::V3Index(etags, needs_.sources.OpenApiV3Urls())),
          generation};
}

openapi::Input ApiDocuments::InputOf(const std::vector<const Owner*>& owners,
                                     const std::vector<ServedPtr>& served) const {
  openapi::Input input{.info = needs_.info, .kinds = {}, .routes = {}};
  // Versions of one kind may belong to different handlers.
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  const auto add = [&input, &seen](const runtime::KindPtr& kind) {
    bool added = false;
    for (const runtime::KindVersion& version : kind->versions()) {
      if (seen.emplace(kind->group(), kind->kind(), version.version).second) added = true;
    }
    if (added) input.kinds.push_back(kind);
  };
  for (const Owner* const owner : owners) {
    const auto scheme = owner->scheme().snapshot();
    for (const runtime::KindPtr& kind : scheme->kinds()) add(kind);
  }
  for (const ServedPtr& each : served) {
    // Some kinds are not in the scheme: autoscaling/v1 Scale, which only subresources have.
    for (const runtime::KindPtr& kind : each->installed().kinds()) add(kind);
    std::vector<openapi::Route> routes = each->installed().Routes();
    std::move(routes.begin(), routes.end(), std::back_inserter(input.routes));
  }
  return input;
}

}  // namespace apiserver::v0::server
