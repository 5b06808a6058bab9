#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/runtime/names.h"

// The group versions and resources that a server serves, of those that it could:
// k8s.io/apiserver/pkg/server/storage.ResourceConfig and
// k8s.io/apiserver/pkg/server/resourceconfig.
namespace apiserver::inline v0::server {

// A list of group versions, enabled or disabled, with resources that differ from their version. Any
// thread may read one that nobody changes.
class ResourceConfig {
 public:
  using Versions = std::vector<runtime::GroupVersion>;
  using Resources = std::vector<runtime::GroupVersionResource>;

  // Enable or disable versions, and forget what was said of single resources in them.
  void EnableVersions(const Versions& versions);
  void DisableVersions(const Versions& versions);
  // Enable or disable single resources, with their subresources. They outweigh their versions.
  void EnableResources(const Resources& resources);
  void DisableResources(const Resources& resources);
  // Do the same, and remember that a user asked for it.
  void ExplicitlyEnableVersions(const Versions& versions);
  void ExplicitlyDisableVersions(const Versions& versions);
  void ExplicitlyEnableResources(const Resources& resources);
  void ExplicitlyDisableResources(const Resources& resources);
  // Enable or disable all known versions that match. `matches` is called on the caller's thread
  // alone and may block.
  using Matcher = std::function<bool(const runtime::GroupVersion&)>;
  void EnableMatchingVersions(const Matcher& matches);
  void DisableMatchingVersions(const Matcher& matches);

  // Return whether a version, or a resource of one, has been enabled or disabled.
  bool KnowsGroup(std::string_view group) const;
  bool KnowsVersion(const runtime::GroupVersion& version) const;
  // Return what is enabled. What is not known is disabled.
  bool VersionEnabled(const runtime::GroupVersion& version) const;
  bool ResourceEnabled(const runtime::GroupVersionResource& resource) const;
  bool AnyResourceForGroupEnabled(std::string_view group) const;
  // Return whether a user asked for it.
  bool VersionExplicitlyEnabled(const runtime::GroupVersion& version) const;
  bool ResourceExplicitlyEnabled(const runtime::GroupVersionResource& resource) const;
  // Returns the known versions.
  Versions versions() const;

  friend bool operator==(const ResourceConfig&, const ResourceConfig&) = default;

 private:
  using OfVersions = std::map<runtime::GroupVersion, bool>;
  using OfResources = std::map<runtime::GroupVersion, std::map<std::string, bool>>;

  void SetVersion(const runtime::GroupVersion& version, bool enabled);
  static void SetResources(OfResources& all, const Resources& resources, bool enabled);
  void SetMatching(const Matcher& matches, bool enabled);

  OfVersions versions_;
  OfResources resources_;
  OfVersions explicit_versions_;
  OfResources explicit_resources_;
};

// The pairs of --runtime-config, such as "apps/v1" and "false".
using RuntimeConfig = std::map<std::string, std::string>;

// Returns the group versions that the keys of `overrides` name, "api/all" and its siblings aside.
// kInvalid: a key names none.
Result<ResourceConfig::Versions> ParseGroupVersions(const RuntimeConfig& overrides);

// Returns `defaults` changed by `overrides`: first "api/all", "api/ga", "api/beta" and "api/alpha",
// then group versions, then resources. Groups that `defaults` does not know are passed over.
// kInvalid, in upstream's words: a value or a key cannot be read, or a group has no such version.
Result<ResourceConfig> MergeAPIResourceConfigs(ResourceConfig defaults,
                                               const RuntimeConfig& overrides);

}  // namespace apiserver::inline v0::server
