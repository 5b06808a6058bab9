#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/server/handler.h"
#include "apiserver/server/resource_config.h"
#include "server/owner.h"
#include "server/routes.h"

namespace apiserver::inline v0::server {

// Changes the resources that a server's handlers serve, one change at a time. Every change is
// prepared completely before the first request sees any of it. Any thread.
class Installer {
 public:
  // Storages that no resource uses any more are destroyed on `pool`. `enabled`: which resources are
  // served of the versions that it knows; nullopt: all. All arguments must outlive this.
  Installer(Routes& routes, Executor& pool, const std::optional<ResourceConfig>& enabled)
      : routes_(routes), enabled_(enabled), storages_(pool), of_routes_(pool) {}

  // Do what Handler::InstallAPIGroup() and its siblings promise. `owner` must outlive its
  // resources.
  Status InstallGroup(const Owner& owner, const APIGroupInfo& group, bool replace);
  Status InstallResource(const Owner& owner, const APIResourceInfo& resource, bool replace);
  Status RemoveResource(const Owner& owner, const runtime::GroupVersionResource& resource);
  Result<std::shared_ptr<Route>> NewRoute(const Owner& owner, const APIResourceInfo& resource);
  // Returns the storages of all served resources, and of those that are disabled.
  std::vector<OwnedStoragePtr> Storages() const { return storages_.All(); }
  // Returns false for a resource of a known version that is disabled.
  bool Enabled(const runtime::GroupVersionResource& resource) const;

 private:
  using InstalledList = std::vector<std::shared_ptr<const endpoints::Installed>>;
  // By resource and resource/subresource.
  using StorageMap = std::map<std::string, std::shared_ptr<rest::Storage>>;

  // Does Prepare() for one resource with its subresources.
  static Result<std::shared_ptr<const endpoints::Installed>> PrepareOne(
      const Owner& owner, const APIResourceInfo& resource);
  // Checks that no other handler serves the version: kConflict.
  Status CheckOwner(const Owner& owner, const runtime::GroupVersion& version) const;
  static Result<InstalledList> Prepare(const Owner& owner, const runtime::GroupVersion& version,
                                       const StorageMap& storage);
  // Takes the storages of disabled resources out of those of a version, and returns them.
  std::vector<std::shared_ptr<rest::Storage>> TakeDisabled(const runtime::GroupVersion& version,
                                                           StorageMap& storage) const;
  void Change(const Owner& owner, const std::vector<runtime::GroupVersion>& cleared,
              InstalledList installed);

  Routes& routes_;
  const std::optional<ResourceConfig>& enabled_;
  OwnedStorages storages_;
  OwnedStorages of_routes_;  // Of NewRoute().
  // The storages that no request reaches, as their resources are disabled: hosts may use them.
  // Locked while the served resources change.
  Guarded<std::vector<OwnedStoragePtr>> disabled_;
};

}  // namespace apiserver::inline v0::server
