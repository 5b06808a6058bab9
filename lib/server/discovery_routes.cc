#include "server/discovery_routes.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "openapi/operation_ids.h"

namespace apiserver::v0::server {
namespace {

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

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
  const std::string_view word = openapi::OperationWordOf(group.name);
  for (const discovery::APIVersion& version : group.versions) {
    routes.Add(
        {root + version.version + "/",
         openapi::ValidOperationId(word, true) + openapi::ValidOperationId(version.version, true),
         openapi::ValidOperationId(word, false) + "_" +
             openapi::ValidOperationId(version.version, false),
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
    const std::string_view word = openapi::OperationWordOf(group.name);
    const bool legacy = group.name.empty();
    const std::string root = legacy ? "/api/" : "/apis/" + group.name + "/";
    const std::string scope = openapi::ValidOperationId(word, true);
    if (legacy) {
      routes.Add({root, scope, "core", kVersions, kVersions, versions_text});
    } else {
      routes.Add({root, scope, openapi::ValidOperationId(word, false), "APIGroup", "APIGroup",
                  "get information of a group"});
    }
    AddVersions(group, root, routes);
  }
  return routes.Take();
}

}  // namespace apiserver::v0::server
