// The texts of discovery, without a server: TestAPIGroupMissing's neighbours of
// endpoints/discovery, and TestConvertAPIGroupDiscoveryListToV2Beta1 of discovery/aggregated.
#include "discovery/documents.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace discovery_documents_test {
namespace {

using namespace apiserver;  // NOLINT: tests only.
using discovery::APIGroup;
using discovery::APIResource;
using discovery::APIVersion;

APIResource Widgets() {
  return {.name = "widgets",
          .singular_name = "widget",
          .namespaced = true,
          .kind = "Widget",
          .verbs = {"get", "list"},
          .short_names = {"wd"},
          .categories = {"all"},
          .storage_version_hash = "aGFzaA=="};
}

APIResource Scale() {
  return {.name = "widgets/scale",
          .namespaced = true,
          .group = "autoscaling",
          .version = "v1",
          .kind = "Scale",
          .verbs = {"get"}};
}

std::string Aggregated(const std::vector<APIGroup>& groups) {
  return discovery::APIGroupDiscoveryListJson(groups, "v2");
}

const std::string kHead =
    R"({"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},)"
    R"("items":[)";

}  // namespace

TEST_CASE("discovery: a list of resources has each member that is set", "[discovery]") {
  CHECK(discovery::APIResourceListJson("a.io", {.version = "v1", .resources = {Widgets()}}) ==
        R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"a.io/v1","resources":[)"
        R"({"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget",)"
        R"("verbs":["get","list"],"shortNames":["wd"],"categories":["all"],)"
        R"("storageVersionHash":"aGFzaA=="}]})"
        "\n");
  CHECK(discovery::APIResourceListJson("a.io", {.version = "v1", .resources = {Scale()}}) ==
        R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"a.io/v1","resources":[)"
        R"({"name":"widgets/scale","singularName":"","namespaced":true,"group":"autoscaling",)"
        R"("version":"v1","kind":"Scale","verbs":["get"]}]})"
        "\n");
  CHECK(discovery::APIResourceListJson("", {.version = "v1"}) ==
        R"({"kind":"APIResourceList","groupVersion":"v1","resources":[]})"
        "\n");
}

TEST_CASE("discovery: a group prefers its first version", "[discovery]") {
  const APIGroup group{.name = "a.io", .versions = {{.version = "v2"}, {.version = "v1"}}};
  CHECK(discovery::APIGroupJson(group) ==
        R"({"kind":"APIGroup","apiVersion":"v1","name":"a.io","versions":[)"
        R"({"groupVersion":"a.io/v2","version":"v2"},{"groupVersion":"a.io/v1","version":"v1"}],)"
        R"("preferredVersion":{"groupVersion":"a.io/v2","version":"v2"}})"
        "\n");
  CHECK(discovery::APIGroupListJson({}, "h:1") ==
        R"({"kind":"APIGroupList","apiVersion":"v1","groups":[]})"
        "\n");
  CHECK(discovery::APIGroupListJson({{.name = "b.io", .versions = {{.version = "v1"}}}}, "h:1") ==
        R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"b.io","versions":[)"
        R"({"groupVersion":"b.io/v1","version":"v1"}],"preferredVersion":{)"
        R"("groupVersion":"b.io/v1","version":"v1"},"serverAddressByClientCIDRs":[{)"
        R"("clientCIDR":"0.0.0.0/0","serverAddress":"h:1"}]}]})"
        "\n");
}

TEST_CASE("discovery: the versions of the legacy group", "[discovery]") {
  CHECK(discovery::APIVersionsJson({.name = "", .versions = {{.version = "v1"}}}, "h:1") ==
        R"({"kind":"APIVersions","versions":["v1"],"serverAddressByClientCIDRs":[{)"
        R"("clientCIDR":"0.0.0.0/0","serverAddress":"h:1"}]})"
        "\n");
}

TEST_CASE("discovery: the aggregated form has subresources within their resource", "[discovery]") {
  APIResource other = Widgets();
  other.name = "widgetsets";
  other.short_names = {};
  other.categories = {};
  other.namespaced = false;
  const APIGroup group{.name = "a.io",
                       .versions = {{.version = "v1", .resources = {Widgets(), Scale(), other}}}};
  CHECK(Aggregated({group}) ==
        kHead + R"({"metadata":{"name":"a.io"},"versions":[{"version":"v1","resources":[{)"
                R"("resource":"widgets","responseKind":{"group":"a.io","version":"v1",)"
                R"("kind":"Widget"},"scope":"Namespaced","singularResource":"widget",)"
                R"("verbs":["get","list"],"shortNames":["wd"],"categories":["all"],)"
                R"("subresources":[{"subresource":"scale","responseKind":{"group":"autoscaling",)"
                R"("version":"v1","kind":"Scale"},"verbs":["get"]}]},{"resource":"widgetsets",)"
                R"("responseKind":{"group":"a.io","version":"v1","kind":"Widget"},)"
                R"("scope":"Cluster","singularResource":"widget","verbs":["get","list"]}],)"
                R"("freshness":"Current"}]}]})"
                "\n");
}

TEST_CASE("discovery: the aggregated form tells what is stale, and not what nobody serves",
          "[discovery]") {
  const APIVersion fresh{.version = "v2"};
  const APIVersion stale{.version = "v1", .stale = true};
  const APIVersion unserved{.version = "v3", .unserved = true};
  CHECK(Aggregated({}) == kHead + "]}\n");
  CHECK(Aggregated({{.name = "a.io", .versions = {unserved}}}) == kHead + "]}\n");
  CHECK(Aggregated({{.name = "a.io", .versions = {unserved, fresh, stale}},
                    {.name = "", .versions = {fresh}}}) ==
        kHead + R"({"metadata":{"name":"a.io"},"versions":[{"version":"v2","freshness":"Current"},)"
                R"({"version":"v1","freshness":"Stale"}]},{"metadata":{},"versions":[)"
                R"({"version":"v2","freshness":"Current"}]}]})"
                "\n");
}

TEST_CASE("discovery: names that need escapes get them", "[discovery]") {
  APIResource odd = Widgets();
  odd.kind = "a\"b";
  odd.verbs = {"\\"};
  const std::string json =
      discovery::APIResourceListJson("a.io", {.version = "v1", .resources = {odd}});
  CHECK(json.find(R"("kind":"a\"b","verbs":["\\"])") != std::string::npos);
}

// The hashes that kube-apiserver 1.35 shows.
TEST_CASE("discovery: storage version hashes are Kubernetes'", "[discovery]") {
  struct Case {
    runtime::GroupVersionKind gvk;
    const char* hash;
  };
  const Case cases[] = {{{"", "v1", "Pod"}, "xPOwRZ+Yhw8="},
                        {{"", "v1", "ConfigMap"}, "qFsyl6wFWjQ="},
                        {{"", "v1", "Secret"}, "S6u1pOWzb84="},
                        {{"", "v1", "Node"}, "XwShjMxG9Fs="},
                        {{"apps", "v1", "Deployment"}, "8aSe+NMegvE="},
                        {{"batch", "v1", "Job"}, "mudhfqk/qZY="}};
  for (const Case& test : cases) {
    INFO(test.gvk.kind);
    CHECK(discovery::StorageVersionHash(test.gvk) == test.hash);
  }
}

}  // namespace discovery_documents_test
