#include "storage/store/leases.h"

#include <algorithm>

#include "base/status_macros.h"

namespace apiserver::v0::storage::store {

// Follows leaseManager in etcd3: objects that end at about the same time share a lease, so that
// they may live up to 5 % longer.
Result<kv::LeaseId> LeasePool::Get(const Context& ctx, std::chrono::seconds ttl) {
  const std::chrono::seconds extra = std::min(kExtraMax, ttl * 5 / 100);
  const Clock::Monotonic now = clock_.Now();
  {
    auto last = last_.Lock();
    const bool fits = last->id != 0 && last->objects < kObjectsMax && last->end >= now + ttl &&
                      last->end <= now + ttl + extra;
    if (fits) {
      ++last->objects;
      return last->id;
    }
  }
  ASSIGN_OR_RETURN(const kv::LeaseId id, engine_.GrantLease(ctx, ttl + extra));
  *last_.Lock() = {id, now + ttl + extra, 1};
  return id;
}

}  // namespace apiserver::v0::storage::store
