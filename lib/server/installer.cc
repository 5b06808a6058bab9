#include "server/installer.h"

#include <iterator>
#include <utility>

#include "base/status_macros.h"

namespace apiserver::v0::server {

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

Status Installer::CheckOwner(const Owner& owner, const runtime::GroupVersion& version) const {
  const Owner* const other = routes_.OwnerOf(version.group, version.version);
  if (!other || other == &owner) return {};
  return {Reason::kConflict, "server: the handler \"" + owner.name() + "\" may not change " +
                                 version.ToString() + ", which the handler \"" + other->name() +
                                 "\" serves"};
}

bool Installer::Enabled(const runtime::GroupVersionResource& resource) const {
  return !enabled_ || !enabled_->KnowsVersion({resource.group, resource.version}) ||
         enabled_->ResourceEnabled(resource);
}

// A subresource is enabled with its resource.
std::vector<std::shared_ptr<rest::Storage>> Installer::TakeDisabled(
    const runtime::GroupVersion& version, StorageMap& storage) const {
  std::vector<std::shared_ptr<rest::Storage>> disabled;
  std::erase_if(storage, [&](const auto& each) {
    const std::string resource = each.first.substr(0, each.first.find('/'));
    if (Enabled({version.group, version.version, resource})) return false;
    disabled.push_back(each.second);
    return true;
  });
  return disabled;
}

Result<Installer::InstalledList> Installer::Prepare(const Owner& owner,
                                                    const runtime::GroupVersion& version,
                                                    const StorageMap& storage) {
  return endpoints::APIGroupVersion{.root = version.group.empty() ? "/api" : "/apis",
                                    .group_version = version,
                                    .storage = storage,
                                    .scheme = owner.scheme().snapshot(),
                                    .environment = &owner.environment()}
      .InstallREST();
}

Result<std::shared_ptr<const endpoints::Installed>> Installer::PrepareOne(
    const Owner& owner, const APIResourceInfo& resource) {
  const runtime::GroupVersionResource& name = resource.resource;
  ASSIGN_OR_RETURN(auto installed, Prepare(owner, {name.group, name.version}, resource.storage));
  // A resource and its subresources change together; anything else in the list is a mistake.
  if (installed.size() != 1 || installed.front()->resource() != name) {
    return Status(Reason::kInvalid, "server: the storages of " + NameOf(name) +
                                        " must be its own and those of its subresources");
  }
  return std::move(installed.front());
}

Result<std::shared_ptr<Route>> Installer::NewRoute(const Owner& owner,
                                                   const APIResourceInfo& resource) {
  ASSIGN_OR_RETURN(auto installed, PrepareOne(owner, resource));
  std::vector<OwnedStoragePtr> owned;
  for (const auto& storage : installed->storages()) owned.push_back(of_routes_.Own(storage));
  return std::make_shared<Served>(owner, std::move(installed), std::move(owned));
}

// Puts the resources into the routes. No step after this fails: the owner of a storage destroys it.
void Installer::Change(const Owner& owner, const std::vector<runtime::GroupVersion>& cleared,
                       InstalledList installed) {
  std::vector<ServedPtr> added;
  for (auto& each : installed) {
    std::vector<OwnedStoragePtr> owned;
    for (const auto& storage : each->storages()) owned.push_back(storages_.Own(storage));
    added.push_back(std::make_shared<Served>(owner, std::move(each), std::move(owned)));
  }
  for (const ServedPtr& gone : routes_.Change(cleared, std::move(added))) gone->End(nullptr);
}

Status Installer::InstallGroup(const Owner& owner, const APIGroupInfo& group, bool replace) {
  const auto all_disabled = disabled_.Lock();
  std::vector<runtime::GroupVersion> versions;
  std::vector<std::shared_ptr<rest::Storage>> disabled;
  InstalledList installed;
  for (auto [name, storage] : group.storage) {
    versions.push_back({group.group, name});
    RETURN_IF_ERROR(CheckOwner(owner, versions.back()));
    if (!replace && routes_.Serves(group.group, name)) {
      return ServedAlready(versions.back().ToString(), "ReplaceAPIGroup()");
      // The message names the call that would do it: replacing is never done silently.
    }
    for (auto& each : TakeDisabled(versions.back(), storage)) disabled.push_back(std::move(each));
    ASSIGN_OR_RETURN(auto prepared, Prepare(owner, versions.back(), storage));
    std::move(prepared.begin(), prepared.end(), std::back_inserter(installed));
  }
  Change(owner, versions, std::move(installed));
  for (const auto& each : disabled) all_disabled->push_back(storages_.Own(each));
  return {};
}

Status Installer::InstallResource(const Owner& owner, const APIResourceInfo& resource,
                                  bool replace) {
  const auto disabled = disabled_.Lock();
  const runtime::GroupVersionResource& name = resource.resource;
  if (!Enabled(name)) {
    for (const auto& [_, storage] : resource.storage) disabled->push_back(storages_.Own(storage));
    return {};
  }
  const runtime::GroupVersion version{name.group, name.version};
  RETURN_IF_ERROR(CheckOwner(owner, version));
  if (!replace && routes_.Find(name)) return ServedAlready(NameOf(name), "ReplaceAPIResource()");
  ASSIGN_OR_RETURN(auto installed, PrepareOne(owner, resource));
  Change(owner, {}, {std::move(installed)});
  return {};
}

Status Installer::RemoveResource(const Owner& owner,
                                 const runtime::GroupVersionResource& resource) {
  const auto changing = disabled_.Lock();
  RETURN_IF_ERROR(CheckOwner(owner, {resource.group, resource.version}));
  const ServedPtr served = routes_.Remove(resource);
  if (!served) {
    return {Reason::kNotFound, "server: " + NameOf(resource) + " is not served"};
  }
  // Watches end after the routes have changed, so that their clients do not find the resource
  // again.
  served->End(nullptr);
  return {};
}

}  // namespace apiserver::v0::server
