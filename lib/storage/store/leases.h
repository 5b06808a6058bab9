#pragma once

#include <chrono>
#include <cstddef>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::store {

// Leases shared by objects that expire at about the same time: as etcd3.leaseManager, one lease
// serves up to 1000 objects for as long as it outlives their time to live.
class LeasePool {
 public:
  LeasePool(kv::Engine& engine, const Clock& clock) : engine_(engine), clock_(clock) {}

  // Returns a lease that ends at least `ttl` from now, and at most 60 s or 5 % later.
  Result<kv::LeaseId> Get(const Context& ctx, std::chrono::seconds ttl);

 private:
  static constexpr std::size_t kObjectsMax = 1000;
  static constexpr std::chrono::seconds kExtraMax = std::chrono::seconds(60);
  struct Lease {
    kv::LeaseId id = 0;
    Clock::Monotonic end;
    std::size_t objects = 0;
  };

  kv::Engine& engine_;
  const Clock& clock_;
  Guarded<Lease> last_;
};

}  // namespace apiserver::inline v0::storage::store
