#include "apiserver/codec/json.h"
#include "apiserver/runtime/names.h"
#include "discovery/documents.h"

namespace apiserver::v0::discovery {

namespace {

// Appends the server's one address, which holds for every client.
void AppendServerAddress(std::string_view address, std::string& json) {
  json += ",\"serverAddressByClientCIDRs\":[{\"clientCIDR\":\"0.0.0.0/0\"";
  AppendText("serverAddress", address, json);
  json += "}]";
}

// metav1.GroupVersionForDiscovery.
void AppendGroupVersion(const std::string& group, const std::string& version, std::string& json) {
  json += "{\"groupVersion\":";
  codec::AppendJsonString(runtime::GroupVersion{group, version}.ToString(), json);
  AppendText("version", version, json);
  json += "}";
}

// Appends the members of an APIGroup except for kind and apiVersion.
void AppendGroup(const APIGroup& group, std::string& json) {
  json += "\"name\":";
  codec::AppendJsonString(group.name, json);
  json += ",\"versions\":[";
  for (const APIVersion& version : group.versions) {
    if (json.back() != '[') json += ",";
    AppendGroupVersion(group.name, version.version, json);
  }
  json += "],\"preferredVersion\":";
  // Versions are ordered by preference.
  AppendGroupVersion(group.name, group.versions.front().version, json);
}

// The members of metav1.APIResource in Go's order.
void AppendResource(const APIResource& resource, std::string& json) {
  json += "{\"name\":";
  codec::AppendJsonString(resource.name, json);
  AppendText("singularName", resource.singular_name, json);
  json += resource.namespaced ? ",\"namespaced\":true" : ",\"namespaced\":false";
  if (!resource.group.empty()) AppendText("group", resource.group, json);
  if (!resource.version.empty()) AppendText("version", resource.version, json);
  AppendText("kind", resource.kind, json);
  AppendNames("verbs", resource.verbs, json);
  if (!resource.short_names.empty()) AppendNames("shortNames", resource.short_names, json);
  if (!resource.categories.empty()) AppendNames("categories", resource.categories, json);
  if (!resource.storage_version_hash.empty()) {
    AppendText("storageVersionHash", resource.storage_version_hash, json);
  }
  json += "}";
}

}  // namespace

void AppendNames(std::string_view name, const std::vector<std::string>& values, std::string& json) {
  json += ",\"";
  json += name;
  json += "\":[";
  for (const std::string& value : values) {
    if (json.back() != '[') json += ",";
    codec::AppendJsonString(value, json);
  }
  json += "]";
}

void AppendText(std::string_view name, std::string_view value, std::string& json) {
  json += ",\"";
  json += name;
  json += "\":";
  codec::AppendJsonString(value, json);
}

std::string APIVersionsJson(const APIGroup& legacy, std::string_view server_address) {
  // The document has no apiVersion: clients have long relied on its absence here.
  std::string json = "{\"kind\":\"APIVersions\"";
  std::vector<std::string> versions;
  for (const APIVersion& version : legacy.versions) versions.push_back(version.version);
  AppendNames("versions", versions, json);
  AppendServerAddress(server_address, json);
  return json + "}\n";
}

std::string APIGroupListJson(const std::vector<APIGroup>& groups, std::string_view server_address) {
  std::string json = "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[";
  for (const APIGroup& group : groups) {
    if (json.back() != '[') json += ",";
    json += "{";
    AppendGroup(group, json);
    AppendServerAddress(server_address, json);
    json += "}";
  }
  return json + "]}\n";
}

std::string APIGroupJson(const APIGroup& group) {
  std::string json = "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\",";
  AppendGroup(group, json);
  return json + "}\n";
}

std::string APIResourceListJson(const std::string& group, const APIVersion& version) {
  std::string json = "{\"kind\":\"APIResourceList\"";
  // The legacy group's list has no apiVersion, as from the Go server.
  if (!group.empty()) json += ",\"apiVersion\":\"v1\"";
  AppendText("groupVersion", runtime::GroupVersion{group, version.version}.ToString(), json);
  json += ",\"resources\":[";
  for (const APIResource& resource : version.resources) {
    if (json.back() != '[') json += ",";
    AppendResource(resource, json);
  }
  return json + "]}\n";
}

}  // namespace apiserver::v0::discovery
