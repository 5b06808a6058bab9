#include "aggregator/serving/table.h"

#include <algorithm>
#include <array>
#include <utility>

#include "apiserver/openapi/spec.h"
#include "apiserver/runtime/scheme.h"

namespace apiserver::v0::aggregator {
namespace {

// The priorities of what has no APIService, and of the group of APIServices: the Go server puts
// that first.
constexpr std::int64_t kUnknownGroupPriority = 1000;
constexpr std::int64_t kUnknownVersionPriority = 15;
constexpr std::int64_t kOwnGroupPriority = 20'001;
constexpr std::string_view kOwnGroup = "apiregistration.k8s.io";

// The legacy API, which a service may serve too.
constexpr std::string_view kLegacy = "/v1";

constexpr std::array<std::string_view, 5> kLongRunning = {"attach", "exec", "proxy", "log",
                                                          "portforward"};

std::string KeyOf(const Facts& facts) { return facts.group + "/" + facts.version; }

// Returns "<group>/<version>" of a path below "/apis/"; empty: it has none.
std::string_view GroupVersionIn(std::string_view path) {
  constexpr std::string_view kApis = "/apis/";
  if (path == "/api" || path.starts_with("/api/")) return kLegacy;
  if (!path.starts_with(kApis)) return {};
  path.remove_prefix(kApis.size());
  const std::size_t group = path.find('/');
  if (group == std::string_view::npos || group == 0) return {};
  return path.substr(0, path.find('/', group + 1));
}

// The priorities of a group and of its versions.
struct Priorities {
  std::int64_t group = 0;
  std::map<std::string, std::int64_t, std::less<>> versions;
};

}  // namespace

class Table::ProxyRoute final : public server::Route {
 public:
  explicit ProxyRoute(std::shared_ptr<ProxyHandler> handler) : handler_(std::move(handler)) {}

  ProxyHandler& handler() { return *handler_; }

  http::Step Serve(http::Exchange& exchange) override { return handler_->ServeHTTP(exchange); }
  Status CheckBeforeBody(http::Exchange& /*exchange*/) const override { return {}; }
  // As a kube-apiserver says of all resources, whoever serves them.
  bool LongRunning(const request::RequestInfo& info, std::string_view /*method*/) const override {
    return info.verb == "proxy" || std::find(kLongRunning.begin(), kLongRunning.end(),
                                             info.subresource) != kLongRunning.end();
  }
  std::optional<storage::Stats> GetStats() const override { return std::nullopt; }

 private:
  const std::shared_ptr<ProxyHandler> handler_;
};

void Table::Set(const Facts& facts) {
  const auto state = state_.Lock();
  Entry& entry = state->entries[facts.name];
  if (entry.facts == facts) return;
  // A new entry has no name yet.
  if (!entry.facts.name.empty()) Displace(entry.facts, *state);
  state->groups[facts.group].insert(facts.name);
  if (entry.route && !facts.remote) {
    entry.route = nullptr;
    entry.shown = std::nullopt;
    SetUrls({}, entry, *state);
    entry.v2 = nullptr;
    entry.converted = nullptr;
  }
  entry.facts = facts;
  if (facts.remote) {
    if (!entry.route) entry.route = std::make_shared<ProxyRoute>(NewProxyHandler(handlers_));
    entry.route->handler().UpdateAPIService(facts.remote);
    state->routes[KeyOf(facts)] = entry.route;
    state->remote.insert(facts.name);
  }
  PlaceDocuments(*state);
  ++generation_;
}

void Table::Remove(const std::string& name) {
  {
    const auto state = state_.Lock();
    const auto entry = state->entries.find(name);
    if (entry == state->entries.end()) return;
    SetUrls({}, entry->second, *state);
    Displace(entry->second.facts, *state);
    state->entries.erase(entry);
    PlaceDocuments(*state);
    ++generation_;
  }
  state_.NotifyAll();
}

void Table::Show(const std::string& name, discovery::APIVersion version) {
  {
    const auto state = state_.Lock();
    const auto found = state->entries.find(name);
    if (found == state->entries.end() || !found->second.route) return;
    auto& shown = found->second.shown;
    if (shown && shown->stale == version.stale && shown->resources == version.resources) return;
    shown = std::move(version);
    ++generation_;
  }
  state_.NotifyAll();
}

void Table::ShowDocuments(const std::string& name, DocumentUrls urls) {
  const auto state = state_.Lock();
  const auto found = state->entries.find(name);
  if (found == state->entries.end() || !found->second.route || found->second.urls == urls) return;
  SetUrls(std::move(urls), found->second, *state);
  PlaceDocuments(*state);
  ++generation_;
}

void Table::ShowDocument(const std::string& name, openapi::ForeignV2Ptr document) {
  const auto state = state_.Lock();
  const auto found = state->entries.find(name);
  if (found == state->entries.end() || !found->second.route) return;
  openapi::ForeignV2Ptr& v2 = found->second.v2;
  const bool same = v2 && document ? v2->hash == document->hash : v2 == document;
  if (same) return;
  v2 = std::move(document);
  ++generation_;
}

void Table::ShowConverted(const std::string& name, ConvertedPtr document) {
  const auto state = state_.Lock();
  const auto found = state->entries.find(name);
  if (found == state->entries.end() || !found->second.route) return;
  ConvertedPtr& converted = found->second.converted;
  const bool same =
      converted && document ? converted->etag == document->etag : converted == document;
  if (same) return;
  converted = std::move(document);
  ++generation_;
}

std::map<std::string, ConvertedPtr> Table::OpenApiV3() const {
  std::map<std::string, ConvertedPtr> documents;
  const auto state = state_.Lock();
  for (const std::string& name : state->remote) {
    const Entry& entry = state->entries.at(name);
    if (entry.converted) documents.emplace(V3PathOf(entry.facts), entry.converted);
  }
  return documents;
}

void Table::SetUrls(DocumentUrls urls, Entry& entry, State& state) {
  if (!entry.urls.empty()) --state.documented;
  entry.urls = std::move(urls);
  if (!entry.urls.empty()) ++state.documented;
}

void Table::Displace(const Facts& facts, State& state) {
  if (facts.remote) {
    state.routes.erase(KeyOf(facts));
    state.remote.erase(facts.name);
  }
  const auto group = state.groups.find(facts.group);
  if (group == state.groups.end()) return;
  group->second.erase(facts.name);
  if (group->second.empty()) state.groups.erase(group);
}

// The path of a group belongs to the first of its extension servers, unless a version of it is
// local.
void Table::PlaceDocuments(State& state) {
  state.documents.clear();
  if (state.documented == 0) return;
  std::vector<const Facts*> all;
  for (const std::string& name : state.remote) {
    const Entry& entry = state.entries.at(name);
    if (!entry.urls.empty()) all.push_back(&entry.facts);
  }
  for (const auto& versions : SortedByGroupAndVersion(std::move(all))) {
    const std::set<std::string>& names = state.groups.at(versions.front()->group);
    const bool whole = std::all_of(names.begin(), names.end(), [&state](const auto& name) {
      return state.remote.contains(name);
    });
    for (const Facts* const facts : versions) {
      const Entry& entry = state.entries.at(facts->name);
      for (const auto& [path, url] : entry.urls) {
        if (!whole && path == V3PathOfGroup(*facts)) continue;
        state.documents.try_emplace(path, RemoteDocument{url, entry.route});
      }
    }
  }
}

std::map<std::string, std::string> Table::OpenApiV3Urls() const {
  std::map<std::string, std::string> urls;
  const auto state = state_.Lock();
  for (const auto& [path, document] : state->documents) urls.emplace(path, document.url);
  return urls;
}

std::vector<openapi::ForeignV2Ptr> Table::ForeignOpenApiV2() const {
  std::vector<const Facts*> all;
  std::vector<openapi::ForeignV2Ptr> documents;
  const auto state = state_.Lock();
  for (const std::string& name : state->remote) all.push_back(&state->entries.at(name).facts);
  for (const Facts* const facts : SortedByGroupPriority(std::move(all))) {
    if (const auto& v2 = state->entries.at(facts->name).v2) documents.push_back(v2);
  }
  return documents;
}

std::optional<Facts> Table::FactsNamed(const std::string& name) const {
  const auto state = state_.Lock();
  const auto found = state->entries.find(name);
  return found == state->entries.end() ? std::nullopt : std::optional(found->second.facts);
}

std::vector<std::string> Table::RemoteNames() const {
  const auto state = state_.Lock();
  return {state->remote.begin(), state->remote.end()};
}

bool Table::WaitUntilShown(std::chrono::milliseconds timeout) const {
  auto state = state_.Lock();
  return state.WaitUntil(RealClock().Now() + timeout, [&state] {
    return std::all_of(state->remote.begin(), state->remote.end(), [&state](const auto& name) {
      return state->entries.at(name).shown.has_value();
    });
  });
}

std::vector<std::string> Table::NamesOf(std::string_view service_namespace,
                                        std::string_view name) const {
  std::vector<std::string> names;
  const auto state = state_.Lock();
  for (const std::string& key : state->remote) {
    const auto& remote = state->entries.at(key).facts.remote;
    if (remote->service_namespace != service_namespace) continue;
    if (remote->service_name == name) names.push_back(key);
  }
  return names;
}

std::shared_ptr<server::Route> Table::Find(const request::RequestInfo& info) const {
  if (info.path.starts_with(openapi::kV3Prefix)) {
    const auto state = state_.Lock();
    const auto found = state->documents.find(info.path.substr(openapi::kV3Prefix.size()));
    return found == state->documents.end() ? nullptr : found->second.route;
  }
  const std::string_view key = GroupVersionIn(info.path);
  if (key.empty()) return nullptr;
  const auto state = state_.Lock();
  if (state->routes.empty()) return nullptr;
  const auto found = state->routes.find(std::string(key));
  return found == state->routes.end() ? nullptr : found->second;
}

// A local one is named even if nobody serves it; what others serve of it takes its place.
discovery::APIGroup Table::GroupOf(const std::string& group, const std::set<std::string>& names,
                                   const State& state) {
  discovery::APIGroup shown{.name = group, .versions = {}};
  for (const std::string& name : names) {
    const Entry& entry = state.entries.at(name);
    discovery::APIVersion unknown{.version = entry.facts.version, .resources = {}};
    unknown.stale = entry.route != nullptr;
    unknown.unserved = entry.route == nullptr;
    shown.versions.push_back(entry.shown.value_or(std::move(unknown)));
  }
  return shown;
}

std::vector<discovery::APIGroup> Table::Groups() const {
  std::vector<discovery::APIGroup> all;
  const auto state = state_.Lock();
  for (const auto& [group, names] : state->groups) {
    if (!group.empty()) all.push_back(GroupOf(group, names, *state));
  }
  return all;
}

std::optional<discovery::APIGroup> Table::FindGroup(std::string_view group) const {
  const auto state = state_.Lock();
  const auto found = state->groups.find(group);
  if (group.empty() || found == state->groups.end()) return std::nullopt;
  return GroupOf(found->first, found->second, *state);
}

void Table::Arrange(std::vector<discovery::APIGroup>& groups) const {
  std::map<std::string, Priorities, std::less<>> known;
  {
    const auto state = state_.Lock();
    for (const discovery::APIGroup& group : groups) {
      const auto names = state->groups.find(group.name);
      if (names == state->groups.end()) continue;
      Priorities& priorities = known[group.name];
      for (const std::string& name : names->second) {
        const Facts& facts = state->entries.at(name).facts;
        priorities.group = std::max(priorities.group, facts.group_priority);
        priorities.versions[facts.version] = facts.version_priority;
      }
    }
  }
  const auto of_group = [&known](const discovery::APIGroup& group) {
    if (group.name == kOwnGroup) return kOwnGroupPriority;
    const auto found = known.find(group.name);
    return found == known.end() ? kUnknownGroupPriority : found->second.group;
  };
  for (discovery::APIGroup& group : groups) {
    const auto found = known.find(group.name);
    if (found == known.end()) continue;
    const auto of_version = [&versions = found->second.versions](const auto& version) {
      const auto priority = versions.find(version.version);
      return priority == versions.end() ? kUnknownVersionPriority : priority->second;
    };
    std::stable_sort(group.versions.begin(), group.versions.end(),
                     [&of_version](const auto& a, const auto& b) {
                       if (of_version(a) != of_version(b)) return of_version(a) > of_version(b);
                       return runtime::VersionPreferred(a.version, b.version);
                     });
  }
  std::stable_sort(groups.begin(), groups.end(), [&of_group](const auto& a, const auto& b) {
    if (of_group(a) != of_group(b)) return of_group(a) > of_group(b);
    return a.name < b.name;
  });
}

}  // namespace apiserver::v0::aggregator
