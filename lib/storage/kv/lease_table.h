#pragma once  // Library-internal: other rooms include this header.

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::kv {

// The leases of an engine, their ends and their keys. Not thread-safe: only the writer uses it.
class LeaseTable {
 public:
  // Returns an id that no lease of this table has had.
  LeaseId NextId() const { return last_id_ + 1; }
  // Marks `id` and all below it as used.
  void Reserve(LeaseId id) { last_id_ = std::max(last_id_, id); }
  void Add(LeaseId id, std::chrono::seconds ttl, Clock::Monotonic now);
  void Remove(LeaseId id);
  bool Has(LeaseId id) const { return leases_.count(id) > 0; }
  // Moves `key` from one lease to another. Zero: no lease.
  void Move(const std::string& key, LeaseId from, LeaseId to);

  // Returns the leases that have ended by `now`; they stay until they are removed.
  std::vector<LeaseId> Ended(Clock::Monotonic now) const;
  std::vector<std::string> Keys(LeaseId id) const;
  // Returns the end of the lease that ends next. Absent: there is no lease.
  std::optional<Clock::Monotonic> NextEnd() const;

 private:
  struct Lease {
    Clock::Monotonic end;
    std::set<std::string> keys;
  };
  std::map<LeaseId, Lease> leases_;
  std::set<std::pair<Clock::Monotonic, LeaseId>> ends_;
  LeaseId last_id_ = 0;
};

}  // namespace apiserver::inline v0::storage::kv
