// The rows are those of TestParseRuntimeConfig of k8s.io/apiserver/pkg/server/resourceconfig, and
// of the tests of k8s.io/apiserver/pkg/server/storage.ResourceConfig.
#include "apiserver/server/resource_config.h"

#include <catch2/catch.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using apiserver::runtime::GroupVersion;
using apiserver::runtime::GroupVersionResource;
using apiserver::server::MergeAPIResourceConfigs;
using apiserver::server::ResourceConfig;
using apiserver::server::RuntimeConfig;

namespace {

const GroupVersion kCore{"", "v1"};
const GroupVersion kApps{"apps", "v1"};
const GroupVersion kExtensions{"extensions", "v1beta1"};

GroupVersionResource In(const GroupVersion& version, std::string resource) {
  return {version.group, version.version, std::move(resource)};
}

// Upstream's newFakeAPIResourceConfigSource.
ResourceConfig Defaults() {
  ResourceConfig config;
  config.EnableVersions({kCore, kApps, kExtensions});
  config.EnableResources({In(kExtensions, "ingresses")});
  config.DisableResources({In(kExtensions, "deployments"), In(kExtensions, "replicasets"),
                           In(kExtensions, "daemonsets")});
  return config;
}

// The enabled ones of upstream's apiResourcesToCheck, and of deployments' neighbours in apps.
std::string EnabledIn(const ResourceConfig& config) {
  std::string enabled;
  for (const char* resource : {"ingresses", "deployments", "replicasets", "daemonsets"}) {
    if (config.ResourceEnabled(In(kExtensions, resource))) enabled.append(resource).append(" ");
  }
  if (config.ResourceEnabled(In(kApps, "deployments"))) enabled += "apps ";
  if (config.ResourceEnabled(In(kApps, "other"))) enabled += "other ";
  if (config.ResourceEnabled(In(kCore, "pods"))) enabled += "pods";
  return enabled;
}

using Change = std::function<void(ResourceConfig&)>;
struct Row {
  const char* name;
  RuntimeConfig overrides;
  Change change;  // From the defaults to what is expected.
  const char* enabled;
};

void DeploymentsOff(ResourceConfig& config) {
  config.ExplicitlyDisableResources({In(kApps, "deployments")});
}
void DeploymentsOn(ResourceConfig& config) {
  config.ExplicitlyEnableResources({In(kApps, "deployments")});
}
Change Both(Change first, Change second) {
  return [first = std::move(first), second = std::move(second)](ResourceConfig& config) {
    first(config);
    second(config);
  };
}
Change AppsOn() {
  return [](auto& config) { config.ExplicitlyEnableVersions({kApps}); };
}
Change AppsOff() {
  return [](auto& config) { config.ExplicitlyDisableVersions({kApps}); };
}
Change StableOff() {
  return [](auto& config) { config.DisableVersions({kCore, kApps}); };
}
Change Nothing() {
  return [](auto&) {};
}

std::vector<Row> Simple() {
  return {
      {"everything-default-value", {}, Nothing(), "ingresses apps other pods"},
      {"version-enabled-by-runtimeConfig-override",
       {{"apps/v1", ""}},
       AppsOn(),
       "ingresses apps other pods"},
      {"disable-v1",
       {{"/v1", "false"}},
       [](auto& config) { config.ExplicitlyDisableVersions({kCore}); },
       "ingresses apps other "},
      {"invalid-runtime-config",
       {{"invalidgroup/version", "false"}},
       Nothing(),
       "ingresses apps other pods"},
      {"enable-all",
       {{"api/all", "true"}},
       [](auto& config) {
         config.EnableVersions({kCore, kApps, kExtensions});
       },
       "ingresses deployments replicasets daemonsets apps other pods"},
      {"only-enable-v1",
       {{"api/all", "false"}, {"/v1", "true"}},
       [](auto& config) {
         config.ExplicitlyEnableVersions({kCore});
         config.DisableVersions({kApps, kExtensions});
       },
       "pods"},
      {"enable-specific-extensions-resources",
       {{"extensions/v1beta1/deployments", "true"}},
       [](auto& config) { config.ExplicitlyEnableResources({In(kExtensions, "deployments")}); },
       "ingresses deployments apps other pods"},
      {"disable-specific-extensions-resources",
       {{"extensions/v1beta1/ingresses", "false"}},
       [](auto& config) { config.ExplicitlyDisableResources({In(kExtensions, "ingresses")}); },
       "apps other pods"},
      {"disable-all-extensions-resources",
       {{"extensions/v1beta1", "false"}},
       [](auto& config) { config.ExplicitlyDisableVersions({kExtensions}); },
       "apps other pods"},
      {"disable-a-no-extensions-resources",
       {{"apps/v1/deployments", "false"}},
       DeploymentsOff,
       "ingresses other pods"},
      {"disable-all-beta-resources",
       {{"api/beta", "false"}},
       [](auto& config) { config.DisableVersions({kExtensions}); },
       "apps other pods"},
  };
}

// Users' wishes that disagree.
std::vector<Row> Precedence() {
  const std::string one = "apps/v1/deployments";
  return {
      {"user-explicit-disable-resource-over-user-version-enable",
       {{"apps/v1", "true"}, {one, "false"}},
       Both(AppsOn(), DeploymentsOff),
       "ingresses other pods"},
      {"user-explicit-enable-resource-over-user-version-disable",
       {{"apps/v1", "false"}, {one, "true"}},
       Both(AppsOff(), DeploymentsOn),
       "ingresses apps pods"},
      {"user-explicit-disable-resource-over-user-stability-enable",
       {{"api/ga", "true"}, {one, "false"}},
       DeploymentsOff,
       "ingresses other pods"},
      {"user-explicit-enable-resource-over-user-stability-disable",
       {{"api/ga", "false"}, {one, "true"}},
       Both(StableOff(), DeploymentsOn),
       "ingresses apps "},
      {"user-explicit-disable-resource-over-user-version-enable-over-user-stability-disable",
       {{"api/ga", "false"}, {"apps/v1", "true"}, {one, "false"}},
       Both(Both(StableOff(), AppsOn()), DeploymentsOff),
       "ingresses other "},
      {"user-explicit-enable-resource-over-user-version-disable-over-user-stability-disable",
       {{"api/ga", "false"}, {"apps/v1", "false"}, {one, "true"}},
       Both(Both(StableOff(), AppsOff()), DeploymentsOn),
       "ingresses apps "},
      {"user-explicit-disable-resource-over-user-version-enable-over-user-stability-enable",
       {{"api/ga", "true"}, {"apps/v1", "true"}, {one, "false"}},
       Both(AppsOn(), DeploymentsOff),
       "ingresses other pods"},
      {"user-explicit-enable-resource-over-user-version-disable-over-user-stability-enable",
       {{"api/ga", "true"}, {"apps/v1", "false"}, {one, "true"}},
       Both(AppsOff(), DeploymentsOn),
       "ingresses apps pods"},
  };
}

std::string ErrorOf(const RuntimeConfig& overrides) {
  return std::string(MergeAPIResourceConfigs(Defaults(), overrides).status().message());
}

}  // namespace

// TestParseRuntimeConfig
TEST_CASE("server: a runtime config changes what is served by default", "[server]") {
  for (const auto& rows : {Simple(), Precedence()}) {
    for (const Row& row : rows) {
      INFO(row.name);
      const auto merged = MergeAPIResourceConfigs(Defaults(), row.overrides);
      REQUIRE(merged.ok());
      ResourceConfig expected = Defaults();
      row.change(expected);
      CHECK(*merged == expected);
      CHECK(EnabledIn(*merged) == row.enabled);
    }
  }
}

// TestParseRuntimeConfig, no-runtimeConfig-override
TEST_CASE("server: a disabled version forgets the resources that were enabled in it", "[server]") {
  ResourceConfig config = Defaults();
  config.DisableVersions({kExtensions});
  CHECK(EnabledIn(config) == "apps other pods");
  CHECK(*MergeAPIResourceConfigs(config, {}) == config);
}

// The first is TestParseRuntimeConfig's using-kind; a kube-apiserver 1.35.4 says the others.
TEST_CASE("server: a runtime config that cannot be read is refused in upstream's words",
          "[server]") {
  CHECK(ErrorOf({{"apps/v1/Deployment", "false"}}) ==
        "invalid key apps/v1/Deployment: group/version/resource and resource is always lowercase "
        "plural, not \"Deployment\"");
  CHECK(ErrorOf({{"api/all", "maybe"}}) == "invalid value api/all=maybe");
  CHECK(ErrorOf({{"api/beta", ""}}) == "invalid value api/beta=");
  CHECK(ErrorOf({{"apps/v9", "false"}}) == "group version apps/v9 that has not been registered");
  CHECK(
      ErrorOf({{"apps/v1", "maybe"}}) ==
      "invalid value of apps/v1: maybe, err: strconv.ParseBool: parsing \"maybe\": invalid syntax");
}

TEST_CASE("server: stages of versions are told apart as upstream's patterns do", "[server]") {
  const auto enabled = [](const std::string& key, const std::string& version) {
    ResourceConfig config;
    config.DisableVersions({{"g", version}});
    return MergeAPIResourceConfigs(config, {{key, "true"}})->VersionEnabled({"g", version});
  };
  CHECK(enabled("api/ga", "v1"));
  CHECK(enabled("api/ga", "v12"));
  CHECK(enabled("api/beta", "v1beta2"));
  CHECK(enabled("api/alpha", "v2alpha10"));
  for (const char* other : {"v", "v1beta", "v1beta1x", "1", "vbeta1", "v1Beta1", "version1"}) {
    INFO(other);
    for (const char* key : {"api/ga", "api/beta", "api/alpha"}) CHECK_FALSE(enabled(key, other));
    CHECK(enabled("api/all", other));
  }
}

// TestDisabledVersion
TEST_CASE("server: a version is enabled or disabled by itself", "[server]") {
  ResourceConfig config;
  config.DisableVersions({{"group1", "version1"}});
  config.EnableVersions({{"group1", "version2"}, {"group2", "version1"}});
  CHECK_FALSE(config.VersionEnabled({"group1", "version1"}));
  CHECK(config.VersionEnabled({"group1", "version2"}));
  CHECK(config.VersionEnabled({"group2", "version1"}));
  CHECK_FALSE(config.VersionEnabled({"group3", "version1"}));
}

// TestDisabledResource
TEST_CASE("server: what is said of a resource outweighs its version", "[server]") {
  const GroupVersion off{"group1", "version1"};
  const std::vector<GroupVersion> on = {{"group1", "version2"}, {"group2", "version1"}};
  ResourceConfig config;
  config.DisableVersions({off});
  config.EnableVersions(on);
  for (const GroupVersion& each : {off, on[0], on[1]}) {
    config.EnableResources({In(each, "enabled")});
    config.DisableResources({In(each, "disabled")});
  }
  CHECK_FALSE(config.ResourceEnabled(In(off, "unspecified")));
  CHECK(config.ResourceEnabled(In(off, "enabled")));
  CHECK_FALSE(config.ResourceEnabled(In(off, "disabled")));
  for (const GroupVersion& each : on) {
    CHECK_FALSE(config.ResourceEnabled(In(each, "disabled")));
    CHECK(config.ResourceEnabled(In(each, "unspecified")));
    CHECK(config.ResourceEnabled(In(each, "enabled")));
  }
}

// TestAnyVersionForGroupEnabled
TEST_CASE("server: a group is enabled by one of its versions or resources", "[server]") {
  ResourceConfig config;
  CHECK_FALSE(config.AnyResourceForGroupEnabled("one"));
  config.DisableVersions({{"one", "version1"}});
  CHECK_FALSE(config.AnyResourceForGroupEnabled("one"));
  ResourceConfig by_version = config;
  by_version.EnableVersions({{"one", "version2"}});
  CHECK(by_version.AnyResourceForGroupEnabled("one"));
  for (const char* version : {"version1", "version2"}) {
    ResourceConfig by_resource = config;
    by_resource.EnableResources({{"one", version, "foo"}});
    CHECK(by_resource.AnyResourceForGroupEnabled("one"));
  }
}

TEST_CASE("server: a config remembers what a user asked for", "[server]") {
  const auto merged =
      MergeAPIResourceConfigs(Defaults(), {{"apps/v1", "true"}, {"/v1/pods", "true"}});
  REQUIRE(merged.ok());
  CHECK(merged->VersionExplicitlyEnabled(kApps));
  CHECK_FALSE(merged->VersionExplicitlyEnabled(kCore));
  CHECK(merged->ResourceExplicitlyEnabled(In(kCore, "pods")));
  CHECK_FALSE(merged->ResourceExplicitlyEnabled(In(kApps, "deployments")));
}
