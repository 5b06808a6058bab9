#include "apiserver/storage/memory/engine.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/storage/kv/observers.h"
#include "base/status_macros.h"
#include "storage/kv/call_gate.h"
#include "storage/kv/errors.h"
#include "storage/kv/history_policy.h"
#include "storage/kv/lease_table.h"
#include "storage/kv/lease_thread.h"
#include "storage/memory/tail.h"
#include "storage/memory/versions.h"

namespace apiserver::v0::storage::memory {
namespace {

using kv::Revision;

// Old versions erased by one write. Few, so that no write pays for a whole compaction; more than
// one, so that erasing keeps up with writing.
constexpr std::size_t kTrimPerWrite = 16;
// Old versions erased under one lock when all are to go at once.
constexpr std::size_t kTrimPerLock = 256;

class MemoryEngine final : public kv::Engine {
 public:
  explicit MemoryEngine(Options options)
      : clock_(options.clock),
        value_bytes_max_(options.value_bytes_max),
        log_(ChangeLog::New(options.first_revision,
                            options.first_revision > 1 ? options.first_revision + 1 : 0)),
        turn_(options.history),
        lease_thread_(options.clock, [this] { ExpireLeases(); }) {
    auto state = state_.Lock();
    state->revision = options.first_revision;
    state->compacted = options.first_revision > 1 ? options.first_revision : 0;
  }
  ~MemoryEngine() override { StopNow(); }

  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& request) override;
  Result<kv::TxnResponse> Txn(const Context& ctx, const kv::TxnRequest& request) override;
  Result<std::unique_ptr<kv::Tail>> NewTail(std::string_view prefix, Revision from) override;
  Status RequestProgress(const Context& ctx) override;
  Result<Revision> CurrentRevision(const Context& ctx) override;
  Status Compact(const Context& ctx, Revision revision) override;
  Revision CompactedRevision() const override { return state_.Lock()->compacted; }
  Result<kv::LeaseId> GrantLease(const Context& ctx, std::chrono::seconds ttl) override;
  kv::Stats GetStats() const override;
  Status Ready() const override;
  Result<std::unique_ptr<kv::Observation>> Observe(std::string_view prefix,
                                                   kv::Observer& observer) override;
  void Stop() override { StopNow(); }

 private:
  // The part that readers see; locked for as long as a snapshot or one change of it takes.
  struct State {
    LiveTree live;
    HistoryTree history;
    Revision revision = 1;
    Revision compacted = 0;
    std::size_t bytes = 0;
    std::size_t history_bytes = 0;
  };
  // The part that only the writer touches. The holder of its lock makes the next revision and calls
  // the observers, so that their calls come in order.
  struct Turn {
    explicit Turn(kv::HistoryOptions options) : history(options) {}
    kv::LeaseTable leases;
    kv::HistoryPolicy history;
    // Changes whose former version is still in the history tree, oldest first.
    std::deque<Change> changes;
  };

  void StopNow();
  Revision Commit(Turn& turn, kv::KeyValue next, const VersionRef& before);
  void CompactAt(Turn& turn, Revision revision);
  // Erases up to `count` versions that lie below the compacted revision; says whether there may be
  // more.
  bool Trim(Turn& turn, std::size_t count);
  void KeepHistoryInBounds(Turn& turn);
  void ExpireLeases();

  const Clock& clock_;
  const std::size_t value_bytes_max_;
  kv::CallGate gate_;
  const std::shared_ptr<ChangeLog> log_;
  Guarded<State> state_;
  kv::Observers observers_;
  Guarded<Turn> turn_;
  kv::LeaseThread lease_thread_;
};

void MemoryEngine::StopNow() {
  lease_thread_.Stop();
  gate_.Shut();
  log_->Close();
}

Result<kv::RangeResponse> MemoryEngine::Range(const Context& ctx, const kv::RangeRequest& request) {
  auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  if (lease_thread_.Due()) ExpireLeases();
  // A copy of a tree shares its nodes: only taking one needs the lock, and reading it does not.
  LiveTree live;
  HistoryTree history;
  kv::RangeResponse response;
  bool now = true;
  {
    auto state = state_.Lock();
    RETURN_IF_ERROR(kv::ValidateRevision(request.at_revision, state->revision, state->compacted));
    response.revision = state->revision;
    now = request.at_revision == 0 || request.at_revision == state->revision;
    if (now) {
      live = state->live;
    } else {
      history = state->history;
    }
  }
  if (now) {
    ReadLive(live, request, response);
  } else {
    ReadHistory(history, request, response);
  }
  return response;
}

Result<kv::TxnResponse> MemoryEngine::Txn(const Context& ctx, const kv::TxnRequest& request) {
  auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  RETURN_IF_ERROR(kv::ValidateTxn(request, value_bytes_max_));
  if (lease_thread_.Due()) ExpireLeases();

  auto turn = turn_.Lock();
  if (request.lease != 0 && !turn->leases.Has(request.lease)) {
    return kv::NewLeaseNotFoundError(request.lease);
  }
  VersionRef before;
  kv::TxnResponse response;
  {
    auto state = state_.Lock();
    if (const VersionRef* found = state->live.Find(request.key)) before = *found;
    response.revision = state->revision;
  }
  if (before) response.kv = before->kv;
  response.succeeded = response.kv.mod_revision == request.expected_mod_revision;
  if (!response.succeeded) return response;

  kv::KeyValue next{.key = request.key, .value = request.value, .lease = request.lease};
  next.create_revision = before ? before->kv.create_revision : 0;
  if (request.value == nullptr) next.lease = 0;
  response.revision = Commit(*turn, std::move(next), before);
  KeepHistoryInBounds(*turn);
  return response;
}

// Makes the next revision of `next`, whose create_revision is zero if the key is new.
Revision MemoryEngine::Commit(Turn& turn, kv::KeyValue next, const VersionRef& before) {
  turn.leases.Move(next.key, before ? before->kv.lease : 0, next.lease);
  // Only this thread changes the revision.
  const Revision revision = state_.Lock()->revision + 1;
  next.mod_revision = revision;
  if (next.value == nullptr) {
    next.create_revision = 0;
  } else if (next.create_revision == 0) {
    next.create_revision = revision;
  }
  const Change change{index::MakeRef<const Version>(std::move(next)), before};
  {
    auto state = state_.Lock();
    if (change.now->deleted()) {
      state->live.Erase(change.now->kv.key);
    } else {
      state->live.Put(change.now);
    }
    state->history.Put(change.now);
    state->bytes += change.now->bytes();
    if (before) {
      state->bytes -= before->bytes();
      state->history_bytes += before->bytes();
    }
    state->revision = revision;
  }
  turn.changes.push_back(change);
  std::vector<kv::Event> events;
  if (!observers_.empty()) events.push_back(EventOf(change));
  observers_.Commit(events, revision);
  // The log comes after the observers, so that a cache answers from memory what a watcher of the
  // log has been told of.
  log_->Append({&change, 1}, revision);
  return revision;
}

Result<std::unique_ptr<kv::Tail>> MemoryEngine::NewTail(std::string_view prefix, Revision from) {
  auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  if (from < 0) return Status(Reason::kInvalid, "the revision must not be negative");
  if (from == 0) from = state_.Lock()->revision + 1;
  return memory::NewTail(log_, prefix, from);
}

Status MemoryEngine::RequestProgress(const Context& ctx) {
  auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  if (lease_thread_.Due()) ExpireLeases();
  log_->WakeBehind();
  return Status::Ok();
}

Result<Revision> MemoryEngine::CurrentRevision(const Context& ctx) {
  auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  if (lease_thread_.Due()) ExpireLeases();
  return state_.Lock()->revision;
}

Status MemoryEngine::Compact(const Context& ctx, Revision revision) {
  auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  auto turn = turn_.Lock();
  RETURN_IF_ERROR(kv::ValidateCompaction(revision, state_.Lock()->revision));
  CompactAt(*turn, revision);
  while (Trim(*turn, kTrimPerLock)) {
  }
  return Status::Ok();
}

void MemoryEngine::CompactAt(Turn&, Revision revision) {
  {
    auto state = state_.Lock();
    if (revision <= state->compacted) return;
    state->compacted = revision;
  }
  log_->TrimBelow(revision);
  observers_.Compact(revision);
}

bool MemoryEngine::Trim(Turn& turn, std::size_t count) {
  std::vector<Change> freed;  // Destroyed after the lock is released.
  auto state = state_.Lock();
  while (!turn.changes.empty() && count-- > 0) {
    Change& change = turn.changes.front();
    // The value that the change at the compacted revision superseded stays: that change's event has
    // it.
    if (ChangeAccess::Revision(change) >= state->compacted) return false;
    if (change.before) {
      state->history.Erase(VersionKeyOf()(change.before));
      state->history_bytes -= change.before->bytes();
    }
    if (change.now->deleted()) state->history.Erase(VersionKeyOf()(change.now));
    freed.push_back(std::move(change));
    turn.changes.pop_front();
  }
  return !turn.changes.empty();
}

void MemoryEngine::KeepHistoryInBounds(Turn& turn) {
  if (turn.changes.front().now->kv.mod_revision < CompactedRevision()) {
    Trim(turn, kTrimPerWrite);
    return;
  }
  kv::HistoryPolicy::Held held;
  {
    auto state = state_.Lock();
    held = {state->revision, state->compacted, state->history_bytes};
  }
  if (auto revision = turn.history.Next(held, clock_.Now())) CompactAt(turn, *revision);
}

Result<kv::LeaseId> MemoryEngine::GrantLease(const Context& ctx, std::chrono::seconds ttl) {
  auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  if (ttl.count() <= 0) return Status(Reason::kInvalid, "a lease needs a positive time to live");
  auto turn = turn_.Lock();
  const kv::LeaseId id = turn->leases.NextId();
  turn->leases.Add(id, ttl, clock_.Now());
  lease_thread_.Watch(turn->leases.NextEnd());
  return id;
}

void MemoryEngine::ExpireLeases() {
  auto turn = turn_.Lock();
  for (kv::LeaseId id : turn->leases.Ended(clock_.Now())) {
    for (const std::string& key : turn->leases.Keys(id)) {
      VersionRef before;
      if (auto state = state_.Lock(); const VersionRef* found = state->live.Find(key)) {
        before = *found;
      }
      kv::KeyValue gone;
      gone.key = key;
      Commit(*turn, std::move(gone), before);
    }
    turn->leases.Remove(id);
  }
  lease_thread_.Watch(turn->leases.NextEnd());
}

kv::Stats MemoryEngine::GetStats() const {
  auto state = state_.Lock();
  return {.keys = state->live.size(), .bytes = state->bytes, .history_bytes = state->history_bytes};
}

Status MemoryEngine::Ready() const { return gate_.shut() ? kv::NewStoppedError() : Status::Ok(); }

Result<std::unique_ptr<kv::Observation>> MemoryEngine::Observe(std::string_view prefix,
                                                               kv::Observer& observer) {
  auto pass = gate_.Enter();
  if (!pass) return kv::NewStoppedError();
  // The lock is held while the observer is added: the next commit becomes visible in it.
  auto state = state_.Lock();
  return observers_.Add(prefix, observer, state->revision);
}

}  // namespace

std::unique_ptr<kv::Engine> NewEngine(Options options) {
  return std::make_unique<MemoryEngine>(options);
}

}  // namespace apiserver::v0::storage::memory
