#include <iterator>
#include <utility>

#include "base/status_macros.h"
#include "server/generic_api_server.h"

// What a server serves changes here, one change at a time. Every change is prepared whole before
// the first request sees any of it.
namespace apiserver::inline v0::server {

namespace {

Status ServedAlready(const std::string& what, const std::string& instead) {
  return {Reason::kConflict,
          "server: " + what + " is served already; " + instead + " would replace it"};
}

std::string NameOf(const runtime::GroupVersionResource& resource) {
  return resource.resource + " of " +
         runtime::GroupVersion{resource.group, resource.version}.ToString();
}

}  // namespace

Result<Server::InstalledList> Server::Prepare(
    const runtime::GroupVersion& version,
    const std::map<std::string, std::shared_ptr<rest::Storage>>& storage) const {
  return endpoints::APIGroupVersion{.root = version.group.empty() ? "/api" : "/apis",
                                    .group_version = version,
                                    .storage = storage,
                                    .scheme = scheme_.snapshot(),
                                    .environment = &environment_}
      .InstallREST();
}

// Nothing fails from here on: whoever owns a storage destroys it.
void Server::Change(const std::vector<runtime::GroupVersion>& cleared, InstalledList installed) {
  std::vector<ServedPtr> added;
  for (auto& each : installed) {
    std::vector<OwnedStoragePtr> owned;
    for (const auto& storage : each->storages()) owned.push_back(storages_.Own(storage));
    added.push_back(std::make_shared<Served>(std::move(each), std::move(owned)));
  }
  for (const ServedPtr& gone : routes_.Change(cleared, std::move(added))) gone->End();
}

Status Server::InstallGroup(APIGroupInfo group, bool replace) {
  const auto installing = installing_.Lock();
  std::vector<runtime::GroupVersion> versions;
  InstalledList installed;
  for (const auto& [name, storage] : group.storage) {
    versions.push_back({group.group, name});
    if (!replace && routes_.Serves(group.group, name)) {
      return ServedAlready(versions.back().ToString(), "ReplaceAPIGroup()");
    }
    ASSIGN_OR_RETURN(auto prepared, Prepare(versions.back(), storage));
    std::move(prepared.begin(), prepared.end(), std::back_inserter(installed));
  }
  Change(versions, std::move(installed));
  return {};
}

Status Server::InstallResource(APIResourceInfo resource, bool replace) {
  const auto installing = installing_.Lock();
  const runtime::GroupVersionResource& name = resource.resource;
  if (!replace && routes_.Find(name)) return ServedAlready(NameOf(name), "ReplaceAPIResource()");
  ASSIGN_OR_RETURN(auto installed, Prepare({name.group, name.version}, resource.storage));
  if (installed.size() != 1 || installed.front()->resource() != name) {
    return {Reason::kInvalid, "server: the storages of " + NameOf(name) +
                                  " must be its own and those of its subresources"};
  }
  Change({}, std::move(installed));
  return {};
}

Status Server::RemoveAPIResource(const runtime::GroupVersionResource& resource) {
  const auto installing = installing_.Lock();
  const ServedPtr served = routes_.Remove(resource);
  if (!served) {
    return {Reason::kNotFound, "server: " + NameOf(resource) + " is not served"};
  }
  served->End();
  return {};
}

}  // namespace apiserver::inline v0::server
