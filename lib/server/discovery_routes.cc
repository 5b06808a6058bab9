#include "server/discovery_routes.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace apiserver::v0::server {
namespace {

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Converts as openapi.ToValidOperationID: "wardle.example.com" becomes "wardleExampleCom".
std::string ValidOperationId(std::string_view text, bool capitalize) {
  std::string id;
  for (const char c : text) {
    if (!IsLetter(c) && (id.empty() || !IsDigit(c))) {
      capitalize = true;
      continue;
    }
    id += capitalize && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    capitalize = false;
  }
  return id;
}

// Returns the group's name in operation ids and tags. The legacy group is called "core" here.
std::string_view WordOf(std::string_view group) {
  constexpr std::string_view kSuffix = ".k8s.io";
  if (group.empty()) return "core";
  if (group.ends_with(kSuffix)) group.remove_suffix(kSuffix.size());
  return group;
}

struct Row {
  std::string path;
  std::string scope;  // The part of the operation id between its verb and its object.
  std::string tag;
  std::string_view kind;
  std::string_view operation;
  std::string description;
};

// Makes the routes. No two of them have the same operation id, although different groups may spell
// the same one.
class RouteMaker {
 public:
  void Add(Row row) {
    std::string id = "get" + row.scope + std::string(row.operation);
    while (!ids_.insert(id).second) id += '_';
    const std::vector<std::string> types = {"application/json", "application/yaml",
                                            "application/vnd.kubernetes.protobuf"};
    routes_.push_back({.method = "GET",
                       .path = std::move(row.path),
                       .operation_id = std::move(id),
                       .description = std::move(row.description),
                       .tag = std::move(row.tag),
                       .consumes = types,
                       .produces = types,
                       .responses = {{200, std::string(kMeta).append(row.kind)}}});
  }
  std::vector<openapi::Route> Take() { return std::move(routes_); }

 private:
  std::set<std::string> ids_;
  std::vector<openapi::Route> routes_;
};

void AddVersions(const discovery::APIGroup& group, const std::string& root, RouteMaker& routes) {
  const std::string_view word = WordOf(group.name);
  for (const discovery::APIVersion& version : group.versions) {
    routes.Add({root + version.version + "/",
                ValidOperationId(word, true) + ValidOperationId(version.version, true),
                ValidOperationId(word, false) + "_" + ValidOperationId(version.version, false),
                "APIResourceList", "APIResources", "get available resources"});
  }
}

}  // namespace

std::vector<openapi::Route> DiscoveryRoutes(const std::vector<discovery::APIGroup>& groups) {
  constexpr std::string_view kVersions = "APIVersions";
  const std::string versions_text = "get available API versions";
  RouteMaker routes;
  routes.Add({"/apis/", "", "apis", "APIGroupList", kVersions, versions_text});
  for (const discovery::APIGroup& group : groups) {
    const std::string_view word = WordOf(group.name);
    const bool legacy = group.name.empty();
    const std::string root = legacy ? "/api/" : "/apis/" + group.name + "/";
    const std::string scope = ValidOperationId(word, true);
    if (legacy) {
      routes.Add({root, scope, "core", kVersions, kVersions, versions_text});
    } else {
      routes.Add({root, scope, ValidOperationId(word, false), "APIGroup", "APIGroup",
                  "get information of a group"});
    }
    AddVersions(group, root, routes);
  }
  return routes.Take();
}

}  // namespace apiserver::v0::server
