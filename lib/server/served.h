#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/endpoints/api_group_version.h"
#include "apiserver/http/exchange.h"
#include "apiserver/rest/storage.h"
#include "apiserver/server/route_source.h"
#include "server/owner.h"

namespace apiserver::inline v0::server {

// A storage that is destroyed when no resource uses it any more: on `pool`, because that may block.
// Several versions of a resource may share it.
class OwnedStorage {
 public:
  OwnedStorage(std::shared_ptr<rest::Storage> storage, Executor& pool)
      : storage_(std::move(storage)), pool_(pool) {}
  ~OwnedStorage();
  OwnedStorage(const OwnedStorage&) = delete;
  OwnedStorage& operator=(const OwnedStorage&) = delete;

  rest::Storage& storage() const { return *storage_; }

 private:
  std::shared_ptr<rest::Storage> storage_;
  Executor& pool_;
};
using OwnedStoragePtr = std::shared_ptr<const OwnedStorage>;

// The storages of all served resources. Any thread.
class OwnedStorages {
 public:
  explicit OwnedStorages(Executor& pool) : pool_(pool) {}

  // Returns the one owner of `storage`.
  OwnedStoragePtr Own(const std::shared_ptr<rest::Storage>& storage);
  std::vector<OwnedStoragePtr> All() const;

 private:
  struct State {
    std::unordered_map<const rest::Storage*, std::weak_ptr<const OwnedStorage>> known;
    std::size_t sweep_at = 64;  // The size at which entries of destroyed storages are removed.
  };

  Executor& pool_;
  Guarded<State> state_;
};

// A resource while it is served, and the requests that end with it. A request keeps the one it
// began with: it is destroyed after the last of them. Any thread.
class Served final : public Route {
 public:
  // `owner`: the handler of the serving chain that serves it; must outlive this.
  Served(const Owner& owner, std::shared_ptr<const endpoints::Installed> installed,
         std::vector<OwnedStoragePtr> storages)
      : owner_(owner), storages_(std::move(storages)), installed_(std::move(installed)) {}

  const Owner& owner() const { return owner_; }
  const endpoints::Installed& installed() const { return *installed_; }
  http::Step Serve(http::Exchange& exchange) override;
  Status CheckBeforeBody(http::Exchange& exchange) const override {
    return installed_->CheckBeforeBody(exchange);
  }
  bool LongRunning(const request::RequestInfo& info, std::string_view method) const override {
    return installed_->LongRunning(info, method);
  }
  std::optional<storage::Stats> GetStats() const override { return installed_->GetStats(); }
  bool IsResource(const request::RequestInfo& info) const override;
  void End(const std::shared_ptr<Route>& successor) override;

 private:
  class Stay;

  // The list of requests that may take long; linked through themselves. And who comes after this.
  struct Running {
    Stay* first = nullptr;
    std::shared_ptr<Route> successor = nullptr;
  };

  // False: it has ended.
  bool Enter(http::Exchange& exchange);
  void Leave(Stay& stay);

  const Owner& owner_;
  const std::vector<OwnedStoragePtr> storages_;
  const std::shared_ptr<const endpoints::Installed> installed_;
  std::atomic<bool> ended_{false};  // Set under the lock.
  Guarded<Running> running_;
};
using ServedPtr = std::shared_ptr<Served>;

}  // namespace apiserver::inline v0::server
