#include "apiserver/server/resource_config.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "text/ascii.h"
#include "text/bool.h"
#include "text/quote.h"

namespace apiserver::v0::server {

namespace {

using runtime::GroupVersion;
using runtime::GroupVersionResource;

GroupVersion VersionOf(const GroupVersionResource& resource) {
  return {resource.group, resource.version};
}

template <typename Map, typename Key>
std::optional<bool> Find(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

template <typename Map>
std::optional<bool> FindResource(const Map& map, const GroupVersionResource& resource) {
  const auto found = map.find(VersionOf(resource));
  return found == map.end() ? std::nullopt : Find(found->second, resource.resource);
}

// Reads "v1", "v1beta2", "v2alpha1": the digits, then the stage, which is empty for "v1". nullopt:
// it is none of these.
std::optional<std::string> StageOf(std::string_view version) {
  const auto skip_digits = [&version] {
    const auto end = std::find_if_not(version.begin(), version.end(), text::IsDigit);
    const bool any = end != version.begin();
    version.remove_prefix(static_cast<std::size_t>(end - version.begin()));
    return any;
  };
  if (!version.starts_with('v')) return std::nullopt;
  version.remove_prefix(1);
  if (!skip_digits()) return std::nullopt;
  if (version.empty()) return "";
  const auto end = std::find_if(version.begin(), version.end(), text::IsDigit);
  std::string stage(version.begin(), end);
  version.remove_prefix(stage.size());
  if (!skip_digits() || !version.empty()) return std::nullopt;
  return stage;
}

ResourceConfig::Matcher OfStage(std::string stage) {
  return [stage = std::move(stage)](const GroupVersion& version) {
    return StageOf(version.version) == stage;
  };
}

// A key for many versions, in the order in which they count.
struct Many {
  std::string_view key;
  ResourceConfig::Matcher matches;
};
std::vector<Many> ManyVersions() {
  return {{"api/all", [](const GroupVersion&) { return true; }},
          {"api/ga", OfStage("")},
          {"api/beta", OfStage("beta")},
          {"api/alpha", OfStage("alpha")}};
}

bool IsForMany(std::string_view key) {
  const auto many = ManyVersions();
  return std::any_of(many.begin(), many.end(), [key](const Many& each) { return each.key == key; });
}

std::vector<std::string> SplitKey(std::string_view key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    if (c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Status Invalid(std::string why) { return {Reason::kInvalid, std::move(why)}; }

// An empty value means true.
Result<bool> EnabledBy(const std::string& key, const std::string& value) {
  if (value.empty()) return true;
  if (const auto read = text::ParseBool(value)) return *read;
  return Invalid("invalid value of " + key + ": " + value + ", err: strconv.ParseBool: parsing " +
                 text::Quote(value) + ": invalid syntax");
}

bool HasUpperCase(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

// The wishes for versions and for resources.
struct Wishes {
  std::vector<std::pair<GroupVersion, bool>> versions;
  std::vector<std::pair<GroupVersionResource, bool>> resources;
};

Status AddWish(const ResourceConfig& known, const std::string& key, const std::string& value,
               Wishes& wishes) {
  const std::vector<std::string> parts = SplitKey(key);
  if (IsForMany(key) || parts.size() < 2 || parts.size() > 3) return {};
  const GroupVersion version{parts[0], parts[1]};
  if (!known.KnowsGroup(version.group)) return {};
  if (!known.KnowsVersion(version)) {
    return Invalid("group version " + version.ToString() + " that has not been registered");
  }
  ASSIGN_OR_RETURN(const bool enabled, EnabledBy(key, value));
  if (parts.size() == 2) {
    wishes.versions.emplace_back(version, enabled);
    return {};
  }
  if (HasUpperCase(parts[2])) {
    return Invalid("invalid key " + key +
                   ": group/version/resource and resource is always lowercase plural, not " +
                   text::Quote(parts[2]));
  }
  wishes.resources.emplace_back(GroupVersionResource{version.group, version.version, parts[2]},
                                enabled);
  return {};
}

}  // namespace

void ResourceConfig::SetVersion(const GroupVersion& version, bool enabled) {
  versions_[version] = enabled;
  resources_.erase(version);
  explicit_resources_.erase(version);
}

void ResourceConfig::SetResources(OfResources& all, const Resources& resources, bool enabled) {
  for (const GroupVersionResource& each : resources) all[VersionOf(each)][each.resource] = enabled;
}

void ResourceConfig::SetMatching(const Matcher& matches, bool enabled) {
  for (const GroupVersion& version : versions()) {
    if (matches(version)) SetVersion(version, enabled);
  }
}

void ResourceConfig::EnableVersions(const Versions& versions) {
  for (const GroupVersion& version : versions) SetVersion(version, true);
}
void ResourceConfig::DisableVersions(const Versions& versions) {
  for (const GroupVersion& version : versions) SetVersion(version, false);
}
void ResourceConfig::EnableResources(const Resources& resources) {
  SetResources(resources_, resources, true);
}
void ResourceConfig::DisableResources(const Resources& resources) {
  SetResources(resources_, resources, false);
}
void ResourceConfig::ExplicitlyEnableVersions(const Versions& versions) {
  for (const GroupVersion& version : versions) explicit_versions_[version] = true;
  EnableVersions(versions);
}
void ResourceConfig::ExplicitlyDisableVersions(const Versions& versions) {
  for (const GroupVersion& version : versions) explicit_versions_[version] = false;
  DisableVersions(versions);
}
void ResourceConfig::ExplicitlyEnableResources(const Resources& resources) {
  SetResources(explicit_resources_, resources, true);
  EnableResources(resources);
}
void ResourceConfig::ExplicitlyDisableResources(const Resources& resources) {
  SetResources(explicit_resources_, resources, false);
  DisableResources(resources);
}
void ResourceConfig::EnableMatchingVersions(const Matcher& matches) { SetMatching(matches, true); }
void ResourceConfig::DisableMatchingVersions(const Matcher& matches) {
  SetMatching(matches, false);
}

bool ResourceConfig::KnowsGroup(std::string_view group) const {
  return std::any_of(versions_.begin(), versions_.end(),
                     [group](const auto& each) { return each.first.group == group; });
}
bool ResourceConfig::KnowsVersion(const GroupVersion& version) const {
  return versions_.contains(version);
}
bool ResourceConfig::VersionEnabled(const GroupVersion& version) const {
  return Find(versions_, version).value_or(false);
}
bool ResourceConfig::ResourceEnabled(const GroupVersionResource& resource) const {
  return FindResource(resources_, resource).value_or(VersionEnabled(VersionOf(resource)));
}
bool ResourceConfig::AnyResourceForGroupEnabled(std::string_view group) const {
  for (const auto& [version, enabled] : versions_) {
    if (version.group == group && enabled) return true;
  }
  for (const auto& [version, resources] : resources_) {
    if (version.group != group) continue;
    for (const auto& [resource, enabled] : resources) {
      if (enabled) return true;
    }
  }
  return false;
}
bool ResourceConfig::VersionExplicitlyEnabled(const GroupVersion& version) const {
  return Find(explicit_versions_, version).value_or(false);
}
bool ResourceConfig::ResourceExplicitlyEnabled(const GroupVersionResource& resource) const {
  return FindResource(explicit_resources_, resource).value_or(false);
}
ResourceConfig::Versions ResourceConfig::versions() const {
  Versions versions;
  for (const auto& [version, enabled] : versions_) versions.push_back(version);
  return versions;
}

Result<ResourceConfig::Versions> ParseGroupVersions(const RuntimeConfig& overrides) {
  ResourceConfig::Versions versions;
  for (const auto& [key, value] : overrides) {
    if (IsForMany(key)) continue;
    const std::vector<std::string> parts = SplitKey(key);
    if (parts.size() != 2 && parts.size() != 3) {
      return Invalid("runtime-config invalid key " + key);
    }
    versions.push_back({parts[0], parts[1]});
  }
  return versions;
}

Result<ResourceConfig> MergeAPIResourceConfigs(ResourceConfig defaults,
                                               const RuntimeConfig& overrides) {
  for (const Many& many : ManyVersions()) {
    const auto found = overrides.find(std::string(many.key));
    if (found == overrides.end()) continue;
    const std::string& value = found->second;
    // Only the two words: an empty value is none of them.
    if (value != "true" && value != "false") {
      return Invalid("invalid value " + found->first + "=" + value);
    }
    value == "true" ? defaults.EnableMatchingVersions(many.matches)
                    : defaults.DisableMatchingVersions(many.matches);
  }
  Wishes wishes;
  for (const auto& [key, value] : overrides) {
    RETURN_IF_ERROR(AddWish(defaults, key, value, wishes));
  }
  for (const auto& [version, enabled] : wishes.versions) {
    enabled ? defaults.ExplicitlyEnableVersions({version})
            : defaults.ExplicitlyDisableVersions({version});
  }
  // Last, as versions forget what was said of their resources.
  for (const auto& [resource, enabled] : wishes.resources) {
    enabled ? defaults.ExplicitlyEnableResources({resource})
            : defaults.ExplicitlyDisableResources({resource});
  }
  return defaults;
}

}  // namespace apiserver::v0::server
