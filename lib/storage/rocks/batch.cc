#include "storage/rocks/batch.h"

#include <array>
#include <utility>

#include "storage/kv/errors.h"

namespace apiserver::v0::storage::rocks {

Batch::Batch(Store& store, kv::LeaseTable& leases)
    : store_(store),
      database_(store.database.Get()),
      leases_(leases),
      revision_(store.state.Lock()->revision) {}

void Batch::Add(Op& op, Clock::Monotonic now) {
  switch (op.kind) {
    case Op::Kind::kTxn:
      return Txn(op);
    case Op::Kind::kGrantLease:
      return GrantLease(op, now);
    case Op::Kind::kCompact:
      return Compact(op);
    case Op::Kind::kExpireLeases:
      return ExpireLeases(now);
  }
}

LiveRef Batch::Find(std::string_view key) const {
  if (auto found = written_.find(key); found != written_.end()) return live_[found->second];
  // Only this thread changes the tree, so a short lock for one look is enough.
  auto state = store_.state.Lock();
  const LiveRef* live = state->live.Find(key);
  return live == nullptr ? LiveRef() : *live;
}

Result<kv::Bytes> Batch::ValueOf(const LiveKey& live, const Op* op) const {
  if (auto found = written_.find(live.key()); found != written_.end()) {
    return events_[found->second].kv.value;
  }
  // The writer has read this value before it queued; the batch saves reading it again.
  if (op != nullptr && op->known_revision == live.mod_revision) return op->known_value;
  return LoadValue(store_, live.key(), live.mod_revision);
}

void Batch::Txn(Op& op) {
  const kv::TxnRequest& request = op.txn;
  if (request.lease != 0 && !leases_.Has(request.lease)) {
    op.status = kv::NewLeaseNotFoundError(request.lease);
    return;
  }
  kv::KeyValue now;
  if (const LiveRef live = Find(request.key)) {
    auto value = ValueOf(*live, &op);
    if (!value.ok()) {
      op.status = value.status();
      return;
    }
    now = live->WithValue(*std::move(value));
  }
  op.response.kv = now;
  op.response.succeeded = now.mod_revision == request.expected_mod_revision;
  if (op.response.succeeded) Write(request.key, request.value, request.lease, std::move(now));
  op.response.revision = revision_;
}

void Batch::Write(const std::string& key, const kv::Bytes& value, kv::LeaseId lease,
                  kv::KeyValue previous) {
  const bool deleted = value == nullptr;
  const bool existed = previous.value != nullptr;
  // A deleted key belongs to no lease, else the lease would delete it a second time.
  if (deleted) lease = 0;
  ++revision_;
  const Revision created = deleted ? 0 : existed ? previous.create_revision : revision_;

  const std::string data_key = DataKey(key, revision_);
  const std::string head = EncodeVersionHead({deleted, created, lease});
  const rocksdb::Slice key_part(data_key);
  const std::array<rocksdb::Slice, 2> value_parts{
      rocksdb::Slice(head), deleted ? rocksdb::Slice() : rocksdb::Slice(*value)};
  // Building a batch in memory cannot fail; its Write can.
  (void)rocks_.Put(database_->data(), rocksdb::SliceParts(&key_part, 1),
                   rocksdb::SliceParts(value_parts.data(), 2));
  LogRecord record;
  record.type = deleted   ? LogRecord::Type::kDelete
                : existed ? LogRecord::Type::kUpdate
                          : LogRecord::Type::kCreate;
  record.previous = previous.mod_revision;
  record.previous_bytes = existed ? previous.value->size() : 0;
  record.key = key;
  (void)rocks_.Put(database_->log(), EncodeNumber(static_cast<std::uint64_t>(revision_)),
                   EncodeLogRecord(record));

  leases_.Move(key, previous.lease, lease);
  LiveRef live;
  if (!deleted) {
    auto* made = LiveKey::New(key);
    made->create_revision = created;
    made->mod_revision = revision_;
    made->lease = lease;
    made->bytes = value->size();
    live = LiveRef(made);
  }
  written_[key] = events_.size();
  live_.push_back(std::move(live));

  kv::Event event;
  event.type = deleted ? kv::Event::Type::kDelete : kv::Event::Type::kPut;
  event.is_create = !deleted && !existed;
  event.kv.key = key;
  event.kv.value = value;
  event.kv.create_revision = created;
  event.kv.mod_revision = revision_;
  event.kv.lease = lease;
  event.previous = std::move(previous);
  events_.push_back(std::move(event));
}

void Batch::GrantLease(Op& op, Clock::Monotonic now) {
  op.lease = leases_.NextId();
  leases_.Add(op.lease, op.ttl, now);
  leases_changed_ = true;
  rocksdb::ColumnFamilyHandle* meta = database_->meta();
  (void)rocks_.Put(meta, LeaseKey(op.lease),
                   EncodeNumber(static_cast<std::uint64_t>(op.ttl.count())));
  // The last id is kept too: an id must not come again after its lease is gone.
  (void)rocks_.Put(meta, SliceOf(kLastLeaseKey),
                   EncodeNumber(static_cast<std::uint64_t>(op.lease)));
}

void Batch::Compact(Op& op) {
  // Checked against the durable revision: no reader has seen the batch's own writes yet.
  auto state = store_.state.Lock();
  op.status = kv::ValidateCompaction(op.compact_at, state->revision);
  const Revision before = std::max(state->compacted, compacted_);
  if (!op.status.ok() || op.compact_at <= before) return;
  compacted_ = op.compact_at;
  (void)rocks_.Put(database_->meta(), SliceOf(kCompactedKey),
                   EncodeNumber(static_cast<std::uint64_t>(compacted_)));
}

void Batch::ExpireLeases(Clock::Monotonic now) {
  for (const kv::LeaseId id : leases_.Ended(now)) {
    bool unread = false;
    for (std::string& key : leases_.Keys(id)) {
      const LiveRef live = Find(key);
      if (!live) continue;
      auto value = ValueOf(*live, nullptr);
      if (!value.ok()) {
        unread = true;  // The lease and its key stay until the disk answers.
        continue;
      }
      // A deque keeps its strings where they are: written_ refers to the keys.
      expired_keys_.push_back(std::move(key));
      Write(expired_keys_.back(), nullptr, 0, live->WithValue(*std::move(value)));
    }
    if (unread) continue;
    leases_.Remove(id);
    (void)rocks_.Delete(database_->meta(), LeaseKey(id));
  }
  leases_changed_ = true;
}

void Batch::ApplyTo(State& state) const {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const kv::Event& event = events_[i];
    if (live_[i]) {
      state.live.Put(live_[i]);
      state.bytes += live_[i]->bytes;
    } else {
      state.live.Erase(event.kv.key);
    }
    if (event.previous.value != nullptr) {
      state.bytes -= event.previous.value->size();
      state.history_bytes += event.previous.value->size();
    }
  }
  state.revision = revision_;
  state.compacted = std::max(state.compacted, compacted_);
}

}  // namespace apiserver::v0::storage::rocks
