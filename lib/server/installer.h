#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"
#include "apiserver/server/handler.h"
#include "server/owner.h"
#include "server/routes.h"

namespace apiserver::inline v0::server {

// Changes the resources that a server's handlers serve, one change at a time. Every change is
// prepared completely before the first request sees any of it. Any thread.
class Installer {
 public:
  // Storages that no resource uses any more are destroyed on `pool`. Both must outlive this.
  Installer(Routes& routes, Executor& pool) : routes_(routes), storages_(pool), of_routes_(pool) {}

  // Do what Handler::InstallAPIGroup() and its siblings promise. `owner` must outlive its
  // resources.
  Status InstallGroup(const Owner& owner, const APIGroupInfo& group, bool replace);
  Status InstallResource(const Owner& owner, const APIResourceInfo& resource, bool replace);
  Status RemoveResource(const Owner& owner, const runtime::GroupVersionResource& resource);
  Result<std::shared_ptr<Route>> NewRoute(const Owner& owner, const APIResourceInfo& resource);
  // Returns the storages of all served resources.
  std::vector<OwnedStoragePtr> Storages() const { return storages_.All(); }

 private:
  using InstalledList = std::vector<std::shared_ptr<const endpoints::Installed>>;

  // Does Prepare() for one resource with its subresources.
  static Result<std::shared_ptr<const endpoints::Installed>> PrepareOne(
      const Owner& owner, const APIResourceInfo& resource);
  // Checks that no other handler serves the version: kConflict.
  Status CheckOwner(const Owner& owner, const runtime::GroupVersion& version) const;
  static Result<InstalledList> Prepare(
      const Owner& owner, const runtime::GroupVersion& version,
      const std::map<std::string, std::shared_ptr<rest::Storage>>& storage);
  void Change(const Owner& owner, const std::vector<runtime::GroupVersion>& cleared,
              InstalledList installed);

  Routes& routes_;
  OwnedStorages storages_;
  OwnedStorages of_routes_;  // Of NewRoute().
  // Held while the served resources change.
  Guarded<bool> changing_{false};
};

}  // namespace apiserver::inline v0::server
