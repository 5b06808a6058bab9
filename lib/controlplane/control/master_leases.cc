#include "controlplane/control/master_leases.h"

#include <utility>

#include "apiserver/storage/store/store.h"
#include "base/status_macros.h"

namespace apiserver::v0::controlplane {
namespace {

using runtime::ListBuilder;
using runtime::MapBuilder;
using runtime::Object;
using runtime::ObjectPtr;
using runtime::Value;

void SetAddress(const std::string& ip, Object& lease) {
  runtime::Arena& arena = lease.arena();
  MapBuilder address(arena);
  address.Add("ip", Value::String(arena.Copy(ip)));
  ListBuilder addresses(arena);
  addresses.Add(address.Build());
  MapBuilder subset(arena);
  subset.Add("addresses", addresses.Build());
  ListBuilder subsets(arena);
  subsets.Add(subset.Build());
  lease.Edit("subsets") = subsets.Build();
}

class StoredLeases final : public MasterLeases {
 public:
  StoredLeases(std::unique_ptr<storage::Interface> store, runtime::KindPtr kind,
               std::chrono::seconds lifetime)
      : store_(std::move(store)), kind_(std::move(kind)), lifetime_(lifetime) {}
  ~StoredLeases() override { store_->Stop(); }

  Result<std::vector<std::string>> ListLeases(const Context& ctx) override {
    ASSIGN_OR_RETURN(const runtime::List list, store_->GetList(ctx, "/", {}));
    std::vector<std::string> ips;
    for (const ObjectPtr& each : list.items) {
      const Value subsets = (*each)["subsets"];
      if (subsets.size() == 0) continue;
      const Value addresses = subsets.items()[0]["addresses"];
      if (addresses.size() == 0) continue;
      std::string ip(addresses.items()[0]["ip"].AsString());
      if (!ip.empty()) ips.push_back(std::move(ip));
    }
    return ips;
  }

  // The generation makes each write differ from the one before, since an update that changes
  // nothing is not stored and would not renew anything.
  Status UpdateLease(const Context& ctx, const std::string& ip) override {
    const auto renewed = [&](const ObjectPtr& current) -> Result<storage::Update> {
      auto lease = current ? current->Clone() : std::make_unique<Object>(kind_, "v1");
      SetAddress(ip, *lease);
      lease->Edit("metadata", "generation") = lease->generation() + 1;
      return storage::Update{.object = std::move(lease), .ttl = lifetime_};
    };
    return store_->GuaranteedUpdate(ctx, "/" + ip, {.ignore_not_found = true}, renewed).status();
  }

  Status RemoveLease(const Context& ctx, const std::string& ip) override {
    const auto valid = [](const Context&, const Object&) { return Status(); };
    return store_->Delete(ctx, "/" + ip, {}, valid).status();
  }

 private:
  const std::unique_ptr<storage::Interface> store_;
  const runtime::KindPtr kind_;
  const std::chrono::seconds lifetime_;
};

}  // namespace

std::unique_ptr<MasterLeases> NewMasterLeases(const registry::StorageConfig& storage,
                                              runtime::KindPtr endpoints,
                                              std::chrono::seconds lifetime) {
  auto store = storage::store::New({.engine = storage.engine,
                                    .kind = endpoints,
                                    .prefix = storage.prefix + "/masterleases",
                                    .clock = storage.clock});
  return std::make_unique<StoredLeases>(std::move(store), std::move(endpoints), lifetime);
}

}  // namespace apiserver::v0::controlplane
