// Follows DiscoveryController.sync of apiextensions-apiserver, for one definition.

#include <algorithm>
#include <string>
#include <utility>

#include "apiextensions/documents/documents.h"

namespace apiserver::v0::apiextensions {

namespace {

using discovery::APIResource;
using runtime::Value;

std::vector<std::string> NamesInList(Value list) {
  std::vector<std::string> names;
  for (const Value& each : list.items()) names.emplace_back(each.AsString());
  return names;
}

bool IsTerminating(Value definition) {
  return std::ranges::any_of(definition["status"]["conditions"].items(), [](const Value& each) {
    return each["type"].AsString() == "Terminating" && each["status"].AsString() == "True";
  });
}

// Returns the hash of the version that is stored. Empty: it is not served.
std::string StorageHashOf(Value spec) {
  for (const Value& each : spec["versions"].items()) {
    if (!each["storage"].AsBool() || !each["served"].AsBool()) continue;
    return discovery::StorageVersionHash({std::string(spec["group"].AsString()),
                                          std::string(each["name"].AsString()),
                                          std::string(spec["names"]["kind"].AsString())});
  }
  return "";
}

// The verbs stand in upstream's order, in which clients print them.
APIResource ResourceRow(Value definition) {
  const Value spec = definition["spec"];
  const Value names = definition["status"]["acceptedNames"];
  APIResource row{.name = std::string(names["plural"].AsString()),
                  .singular_name = std::string(names["singular"].AsString()),
                  .namespaced = spec["scope"].AsString() == "Namespaced"};
  row.kind = names["kind"].AsString();
  row.verbs = {"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"};
  if (IsTerminating(definition)) {
    row.verbs = {"delete", "deletecollection", "get", "list", "watch"};
  }
  row.short_names = NamesInList(names["shortNames"]);
  row.categories = NamesInList(names["categories"]);
  row.storage_version_hash = StorageHashOf(spec);
  return row;
}

APIResource SubresourceRow(const APIResource& parent, const std::string& name) {
  APIResource row{.name = parent.name + "/" + name, .namespaced = parent.namespaced};
  row.kind = parent.kind;
  row.verbs = {"get", "patch", "update"};
  return row;
}

}  // namespace

std::vector<APIResource> DiscoveryRowsOf(Value definition, std::string_view version) {
  std::vector<APIResource> rows;
  for (const Value& each : definition["spec"]["versions"].items()) {
    if (each["name"].AsString() != version || !each["served"].AsBool()) continue;
    rows.push_back(ResourceRow(definition));
    const Value subresources = each["subresources"];
    if (!subresources["status"].is_null()) rows.push_back(SubresourceRow(rows[0], "status"));
    if (!subresources["scale"].is_null()) {
      rows.push_back(SubresourceRow(rows[0], "scale"));
      rows.back().group = "autoscaling";
      rows.back().version = "v1";
      rows.back().kind = "Scale";
    }
    break;
  }
  return rows;
}

}  // namespace apiserver::v0::apiextensions
