#pragma once

#include <rocksdb/write_batch.h>

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "storage/kv/lease_table.h"
#include "storage/rocks/op.h"
#include "storage/rocks/store.h"

namespace apiserver::inline v0::storage::rocks {

// Writes that become durable together: the RocksDB batch, and the changes of memory to make once it
// is on disk. Later operations of a batch see earlier ones. Only the committer uses it.
class Batch {
 public:
  Batch(Store& store, kv::LeaseTable& leases);

  // Does what `op` asks for, or stores the reason why not in it. `op` must outlive the batch.
  void Add(Op& op, Clock::Monotonic now);

  // True if there is nothing to make durable.
  bool empty() const { return rocks_.Count() == 0; }
  rocksdb::WriteBatch& rocks() { return rocks_; }
  bool leases_changed() const { return leases_changed_; }
  bool has_events() const { return !events_.empty(); }
  std::size_t size() const { return events_.size(); }

  // Changes the state that readers see. Call TakeEvents() after this.
  void ApplyTo(State& state) const;
  Events TakeEvents() { return std::make_shared<const std::vector<kv::Event>>(std::move(events_)); }
  Revision revision() const { return revision_; }
  // Zero: it does not compact.
  Revision compacted() const { return compacted_; }

 private:
  void Txn(Op& op);
  void GrantLease(Op& op, Clock::Monotonic now);
  void Compact(Op& op);
  void ExpireLeases(Clock::Monotonic now);

  // Returns the key as of the batch so far. Null: it does not exist.
  LiveRef Find(std::string_view key) const;
  Result<kv::Bytes> ValueOf(const LiveKey& live, const Op* op) const;
  // Makes the next revision; a null `value` deletes. `key` must outlive the batch.
  void Write(const std::string& key, const kv::Bytes& value, kv::LeaseId lease,
             kv::KeyValue previous);

  Store& store_;
  const std::shared_ptr<Database> database_;
  kv::LeaseTable& leases_;
  rocksdb::WriteBatch rocks_;
  std::vector<kv::Event> events_;
  std::vector<LiveRef> live_;  // One for each event; null: the key was deleted.
  std::unordered_map<std::string_view, std::size_t> written_;  // The last event of each key.
  std::deque<std::string> expired_keys_;
  Revision revision_ = 0;
  Revision compacted_ = 0;
  bool leases_changed_ = false;
};

}  // namespace apiserver::inline v0::storage::rocks
