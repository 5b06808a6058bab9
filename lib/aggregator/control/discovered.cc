#include <algorithm>
#include <utility>
#include <vector>

#include "aggregator/control/remote_discovery.h"
#include "apiserver/codec/json.h"
#include "base/status_macros.h"

namespace apiserver::v0::aggregator {
namespace {

using discovery::APIResource;
using runtime::Value;

std::string Text(const Value& value) { return std::string(value.AsString()); }

std::vector<std::string> Texts(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& each : list.items()) texts.push_back(Text(each));
  return texts;
}

void SetKind(const Value& kind, APIResource& resource) {
  resource.group = Text(kind["group"]);
  resource.version = Text(kind["version"]);
  resource.kind = Text(kind["kind"]);
}

void SetLists(const Value& from, APIResource& resource) {
  resource.verbs = Texts(from["verbs"]);
  resource.short_names = Texts(from["shortNames"]);
  resource.categories = Texts(from["categories"]);
}

// Appends a resource of the aggregated form, and its subresources.
void AddResource(const Value& from, std::vector<APIResource>& resources) {
  APIResource resource;
  resource.name = Text(from["resource"]);
  resource.singular_name = Text(from["singularResource"]);
  resource.namespaced = from["scope"].AsString() == "Namespaced";
  SetKind(from["responseKind"], resource);
  SetLists(from, resource);
  const std::string parent = resource.name;
  const bool namespaced = resource.namespaced;
  resources.push_back(std::move(resource));
  for (const Value& each : from["subresources"].items()) {
    APIResource subresource;
    subresource.name = parent + "/" + Text(each["subresource"]);
    subresource.namespaced = namespaced;
    SetKind(each["responseKind"], subresource);
    SetLists(each, subresource);
    resources.push_back(std::move(subresource));
  }
}

std::string_view Trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// Returns what a resource or a subresource belongs to.
std::string ParentOf(const APIResource& resource) {
  return resource.name.substr(0, resource.name.find('/'));
}

}  // namespace

bool IsAggregated(std::string_view content_type) {
  bool group = false;
  bool version = false;
  bool kind = false;
  while (!content_type.empty()) {
    const std::size_t end = content_type.find(';');
    const std::string_view part = Trimmed(content_type.substr(0, end));
    group |= part == "g=apidiscovery.k8s.io";
    version |= part == "v=v2" || part == "v=v2beta1";
    kind |= part == "as=APIGroupDiscoveryList";
    content_type.remove_prefix(end == std::string_view::npos ? content_type.size() : end + 1);
  }
  return group && version && kind;
}

Result<DiscoveredVersions> ReadAggregated(std::string_view json) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value root, codec::ParseJson(json, arena));
  if (root["kind"].AsString() != "APIGroupDiscoveryList") {
    return Status(Reason::kInvalid, "the document is no APIGroupDiscoveryList");
  }
  DiscoveredVersions versions;
  for (const Value& group : root["items"].items()) {
    for (const Value& each : group["versions"].items()) {
      discovery::APIVersion version{.version = Text(each["version"]), .resources = {}};
      for (const Value& resource : each["resources"].items()) {
        AddResource(resource, version.resources);
      }
      const runtime::GroupVersion key{Text(group["metadata"]["name"]), version.version};
      versions[key] = std::move(version);
    }
  }
  return versions;
}

Result<discovery::APIVersion> ReadResourceList(std::string_view json, const std::string& version) {
  runtime::Arena arena;
  ASSIGN_OR_RETURN(const Value root, codec::ParseJson(json, arena));
  if (root["kind"].AsString() != "APIResourceList") {
    return Status(Reason::kInvalid, "the document is no APIResourceList");
  }
  discovery::APIVersion read{.version = version, .resources = {}};
  for (const Value& each : root["resources"].items()) {
    APIResource resource;
    resource.name = Text(each["name"]);
    resource.singular_name = Text(each["singularName"]);
    resource.namespaced = each["namespaced"].AsBool();
    SetKind(each, resource);
    SetLists(each, resource);
    read.resources.push_back(std::move(resource));
  }
  // Subresources follow what they belong to.
  std::stable_sort(read.resources.begin(), read.resources.end(),
                   [](const APIResource& a, const APIResource& b) {
                     const std::string of_a = ParentOf(a);
                     const std::string of_b = ParentOf(b);
                     return of_a != of_b ? of_a < of_b : a.name < b.name;
                   });
  return read;
}

}  // namespace apiserver::v0::aggregator
