#include "endpoints/installer.h"
#include "endpoints/verbs.h"

namespace apiserver::v0::endpoints {

// The rows of /apis/<group>/<version>; subresources follow their resource in the map, which is
// ordered by path.
std::vector<discovery::APIResource> APIResourcesOf(const Resources& resources) {
  std::vector<discovery::APIResource> rows;
  for (const auto& [path, resource] : resources) {
    const RequestScope& scope = *resource.scope;
    const rest::Capabilities& can = scope.capabilities;
    discovery::APIResource row{.name = path, .namespaced = scope.namespaced};
    row.kind = scope.kind->kind();
    // Only a subresource with a kind of another group names it, as Scale does.
    if (can.gvk) {
      row.group = scope.kind->group();
      row.version = scope.version;
    }
    row.verbs = VerbsOf(scope);
    if (can.short_names) row.short_names = can.short_names->ShortNames();
    if (can.categories) row.categories = can.categories->Categories();
    // As upstream, subresources have neither a singular name nor a storage version.
    if (scope.subresource.empty()) {
      row.singular_name = can.singular_name->GetSingularName();
      if (can.storage_version) {
        row.storage_version_hash =
            discovery::StorageVersionHash(can.storage_version->StorageVersion());
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace apiserver::v0::endpoints
