#include <algorithm>
#include <cstddef>
#include <string_view>

#include "apiserver/codec/json.h"
#include "discovery/documents.h"

namespace apiserver::v0::discovery {

namespace {

// Appends responseKind, which is never null: client-go 0.26.0 to 0.26.3 panic on that.
void AppendResponseKind(const std::string& group, const std::string& version,
                        const APIResource& resource, std::string& json) {
  json += "\"responseKind\":{\"group\":";
  codec::AppendJsonString(resource.group.empty() ? group : resource.group, json);
  AppendText("version", resource.version.empty() ? version : resource.version, json);
  AppendText("kind", resource.kind, json);
  json += "}";
}

bool IsSubresourceOf(const APIResource& candidate, const APIResource& parent) {
  return candidate.name.size() > parent.name.size() + 1 &&
         candidate.name.starts_with(parent.name) && candidate.name[parent.name.size()] == '/';
}

// Appends the subresources, which follow the resource at `at`.
// Relies on the order of version.resources: subresources stand behind their resource.
void AppendSubresources(const std::string& group, const APIVersion& version, std::size_t at,
                        std::string& json) {
  const APIResource& parent = version.resources[at];
  std::string list;
  for (++at; at < version.resources.size(); ++at) {
    const APIResource& resource = version.resources[at];
    if (!IsSubresourceOf(resource, parent)) break;
    list += list.empty() ? "{" : ",{";
    list += "\"subresource\":";
    codec::AppendJsonString(resource.name.substr(parent.name.size() + 1), list);
    list += ",";
    AppendResponseKind(group, version.version, resource, list);
    AppendNames("verbs", resource.verbs, list);
    list += "}";
  }
  if (!list.empty()) json += ",\"subresources\":[" + list + "]";
}

// The members of apidiscovery APIResourceDiscovery in Go's order.
void AppendResource(const std::string& group, const APIVersion& version, std::size_t at,
                    std::string& json) {
  const APIResource& resource = version.resources[at];
  json += "{\"resource\":";
  codec::AppendJsonString(resource.name, json);
  json += ",";
  AppendResponseKind(group, version.version, resource, json);
  AppendText("scope", resource.namespaced ? "Namespaced" : "Cluster", json);
  AppendText("singularResource", resource.singular_name, json);
  AppendNames("verbs", resource.verbs, json);
  if (!resource.short_names.empty()) AppendNames("shortNames", resource.short_names, json);
  if (!resource.categories.empty()) AppendNames("categories", resource.categories, json);
  AppendSubresources(group, version, at, json);
  json += "}";
}

void AppendVersion(const std::string& group, const APIVersion& version, std::string& json) {
  json += "{\"version\":";
  codec::AppendJsonString(version.version, json);
  std::string resources;
  for (std::size_t i = 0; i < version.resources.size(); ++i) {
    // Subresources are listed within their parent.
    if (version.resources[i].name.find('/') != std::string::npos) continue;
    if (!resources.empty()) resources += ",";
    AppendResource(group, version, i, resources);
  }
  if (!resources.empty()) json += ",\"resources\":[" + resources + "]";
  json += version.stale ? ",\"freshness\":\"Stale\"}" : ",\"freshness\":\"Current\"}";
}

bool IsServed(const APIGroup& group) {
  return std::any_of(group.versions.begin(), group.versions.end(),
                     [](const APIVersion& version) { return !version.unserved; });
}

}  // namespace

// Follows APIGroupDiscoveryList of apidiscovery/v2 and v2beta1, which differ in their name only.
std::string APIGroupDiscoveryListJson(const std::vector<APIGroup>& groups,
                                      std::string_view api_version) {
  std::string json = "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/";
  json += api_version;
  json += "\",\"metadata\":{},\"items\":[";
  for (const APIGroup& group : groups) {
    if (!IsServed(group)) continue;
    if (json.back() != '[') json += ",";
    json += "{\"metadata\":{";
    // The legacy group has no name, and its metadata is empty.
    if (!group.name.empty()) {
      json += "\"name\":";
      codec::AppendJsonString(group.name, json);
    }
    json += "},\"versions\":[";
    for (const APIVersion& version : group.versions) {
      if (version.unserved) continue;
      if (json.back() != '[') json += ",";
      AppendVersion(group.name, version, json);
    }
    json += "]}";
  }
  return json + "]}\n";
}

}  // namespace apiserver::v0::discovery
