#include "storage/kv/lease_table.h"

#include <algorithm>

namespace apiserver::v0::storage::kv {

void LeaseTable::Add(LeaseId id, std::chrono::seconds ttl, Clock::Monotonic now) {
  leases_[id].end = now + ttl;
  ends_.emplace(now + ttl, id);
  last_id_ = std::max(last_id_, id);
}

void LeaseTable::Remove(LeaseId id) {
  auto found = leases_.find(id);
  if (found == leases_.end()) return;
  ends_.erase({found->second.end, id});
  leases_.erase(found);
}

void LeaseTable::Move(const std::string& key, LeaseId from, LeaseId to) {
  if (from == to) return;
  if (auto found = leases_.find(from); found != leases_.end()) found->second.keys.erase(key);
  if (auto found = leases_.find(to); found != leases_.end()) found->second.keys.insert(key);
}

std::vector<LeaseId> LeaseTable::Ended(Clock::Monotonic now) const {
  std::vector<LeaseId> ended;
  for (const auto& [end, id] : ends_) {
    if (end > now) break;
    ended.push_back(id);
  }
  return ended;
}

std::vector<std::string> LeaseTable::Keys(LeaseId id) const {
  auto found = leases_.find(id);
  if (found == leases_.end()) return {};
  return {found->second.keys.begin(), found->second.keys.end()};
}

std::optional<Clock::Monotonic> LeaseTable::NextEnd() const {
  if (ends_.empty()) return std::nullopt;
  return ends_.begin()->first;
}

}  // namespace apiserver::v0::storage::kv
