#include "apiserver/storage/rocks/engine.h"

#include <utility>

#include "base/status_macros.h"
#include "storage/kv/errors.h"
#include "storage/rocks/committer.h"
#include "storage/rocks/floor.h"
#include "storage/rocks/open_over.h"
#include "storage/rocks/reader.h"
#include "storage/rocks/recovery.h"
#include "storage/rocks/tail.h"

namespace apiserver::v0::storage::rocks {
namespace {

// Limits the attempts of a current read that compaction has overtaken.
constexpr int kReadAttempts = 100;

Status NewWouldBlockError() {
  return Status(Reason::kWouldBlock, "the store must wait for its disk");
}

class RocksEngine final : public kv::Engine {
 public:
  RocksEngine(std::shared_ptr<Store> store, Recovered recovered)
      : store_(std::move(store)), committer_(*store_, std::move(recovered)) {}
  ~RocksEngine() override { StopNow(); }

  Result<kv::RangeResponse> Range(const Context& ctx, const kv::RangeRequest& request) override;
  Result<kv::TxnResponse> Txn(const Context& ctx, const kv::TxnRequest& request) override;
  void TxnAsync(const Context& ctx, kv::TxnRequest request,
                UniqueFunction<void(Result<kv::TxnResponse>)> done) override;
  Result<std::unique_ptr<kv::Tail>> NewTail(std::string_view prefix, Revision from) override;
  Status RequestProgress(const Context& ctx) override;
  Result<Revision> CurrentRevision(const Context& ctx) override;
  Status Compact(const Context& ctx, Revision revision) override;
  Revision CompactedRevision() const override { return store_->state.Lock()->compacted; }
  Result<kv::LeaseId> GrantLease(const Context& ctx, std::chrono::seconds ttl) override;
  std::string_view name() const override { return "rocks"; }
  kv::Stats GetStats() const override;
  Status Ready() const override;
  Result<std::unique_ptr<kv::Observation>> Observe(std::string_view prefix,
                                                   kv::Observer& observer) override;
  void Stop() override { StopNow(); }

 private:
  void StopNow();
  Status Run(const Context& ctx, const OpRef& op);
  // Ends the leases that are due, before a call that would see their keys.
  void ExpireLeases(const Context& ctx);
  Status TryRange(const Context& ctx, const kv::RangeRequest& request, kv::RangeResponse& response);
  // Compares ahead of the committer. True: the comparison fails, and `response` has the answer.
  // Else the known value of the key goes to `op`.
  bool FailsAlready(Op& op, kv::TxnResponse& response);

  std::shared_ptr<Store> store_;
  Committer committer_;
  Guarded<bool> stopped_{false};
};

void RocksEngine::StopNow() {
  auto stopped = stopped_.Lock();
  if (*stopped) return;
  *stopped = true;
  // The order matters: no call begins any more, queued writes are answered, tails end, the files
  // are closed.
  store_->gate.Shut();
  committer_.Stop();
  store_->log->Close();
  store_->database.Close();
  // If it fails the floor is lower than it could be, which refuses less.
  (void)RaiseFloor(store_->env, store_->options.path, store_->state.Lock()->revision);
}

Status RocksEngine::Run(const Context& ctx, const OpRef& op) {
  RETURN_IF_ERROR(committer_.Enqueue(op));
  return committer_.Await(ctx, *op);
}

void RocksEngine::ExpireLeases(const Context& ctx) {
  // A call on a loop sees ended keys for a moment longer; the lease thread ends them anyway.
  if (!committer_.LeaseDue() || !ctx.may_block()) return;
  // If it fails the keys are still there, and the call that follows reports the error.
  (void)Run(ctx, std::make_shared<Op>(Op::Kind::kExpireLeases));
}

Result<kv::RangeResponse> RocksEngine::Range(const Context& ctx, const kv::RangeRequest& request) {
  auto pass = store_->gate.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  ExpireLeases(ctx);
  for (int attempt = 0; attempt < kReadAttempts; ++attempt) {
    kv::RangeResponse response;
    const Status status = TryRange(ctx, request, response);
    if (status.ok()) return response;
    // A value that is gone was superseded and compacted between the look at the tree and the read.
    if (status.reason() != Reason::kNotFound) return status;
  }
  return NewCorruptError("the value of a live key is missing");
}

Status RocksEngine::TryRange(const Context& ctx, const kv::RangeRequest& request,
                             kv::RangeResponse& response) {
  LiveTree live;
  const Revision at = request.at_revision;
  {
    auto state = store_->state.Lock();
    RETURN_IF_ERROR(kv::ValidateRevision(at, state->revision, state->compacted));
    response.revision = state->revision;
    if (at == 0 || at == state->revision) live = state->live;
  }
  if (at == 0 || at == response.revision) {
    return ReadLive(*store_, live, request, ctx.may_block(), response);
  }
  if (!ctx.may_block()) return NewWouldBlockError();
  RETURN_IF_ERROR(ReadHistory(*store_, request, response));
  const Revision compacted = CompactedRevision();
  return at < compacted ? kv::NewCompactedError(at, compacted) : Status::Ok();
}

bool RocksEngine::FailsAlready(Op& op, kv::TxnResponse& response) {
  LiveRef live;
  {
    auto state = store_->state.Lock();
    if (const LiveRef* found = state->live.Find(op.txn.key)) live = *found;
    response.revision = state->revision;
  }
  if (live) {
    auto value = LoadValue(*store_, live->key(), live->mod_revision);
    // The value was superseded and compacted since: the committer decides.
    if (!value.ok()) return false;
    op.known_revision = live->mod_revision;
    op.known_value = *value;
    response.kv = live->WithValue(*std::move(value));
  }
  return response.kv.mod_revision != op.txn.expected_mod_revision;
}

Result<kv::TxnResponse> RocksEngine::Txn(const Context& ctx, const kv::TxnRequest& request) {
  auto pass = store_->gate.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  RETURN_IF_ERROR(kv::ValidateTxn(request, store_->options.value_bytes_max));
  if (!ctx.may_block()) return NewWouldBlockError();
  ExpireLeases(ctx);
  auto op = std::make_shared<Op>(Op::Kind::kTxn);
  op->txn = request;
  kv::TxnResponse failed;
  // Only the committer knows if a lease exists.
  if (FailsAlready(*op, failed) && request.lease == 0) return failed;
  RETURN_IF_ERROR(Run(ctx, op));
  return std::move(op->response);
}

void RocksEngine::TxnAsync(const Context& ctx, kv::TxnRequest request,
                           UniqueFunction<void(Result<kv::TxnResponse>)> done) {
  auto pass = store_->gate.Enter();
  Status status = pass ? ctx.Err() : kv::NewStoppedError();
  if (status.ok()) status = kv::ValidateTxn(request, store_->options.value_bytes_max);
  if (!status.ok()) return done(status);
  auto op = std::make_shared<Op>(Op::Kind::kTxn);
  op->txn = std::move(request);
  // As Txn() does where it may wait. A create has no value that the committer would read.
  if (ctx.may_block() && op->txn.expected_mod_revision != 0) {
    ExpireLeases(ctx);
    kv::TxnResponse failed;
    if (FailsAlready(*op, failed) && op->txn.lease == 0) return done(std::move(failed));
  }
  op->done = std::move(done);
  status = committer_.Enqueue(op);
  if (!status.ok()) op->done(status);
}

Result<std::unique_ptr<kv::Tail>> RocksEngine::NewTail(std::string_view prefix, Revision from) {
  auto pass = store_->gate.Enter();
  if (!pass) return kv::NewStoppedError();
  if (from < 0) return Status(Reason::kInvalid, "the revision must not be negative");
  if (from == 0) from = store_->state.Lock()->revision + 1;
  return rocks::NewTail(store_, prefix, from);
}

Status RocksEngine::RequestProgress(const Context& ctx) {
  auto pass = store_->gate.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  ExpireLeases(ctx);
  store_->log->WakeBehind();
  return Status::Ok();
}

Result<Revision> RocksEngine::CurrentRevision(const Context& ctx) {
  auto pass = store_->gate.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  ExpireLeases(ctx);
  return store_->state.Lock()->revision;
}

Status RocksEngine::Compact(const Context& ctx, Revision revision) {
  auto pass = store_->gate.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  if (!ctx.may_block()) return NewWouldBlockError();
  auto op = std::make_shared<Op>(Op::Kind::kCompact);
  op->compact_at = revision;
  return Run(ctx, op);
}

Result<kv::LeaseId> RocksEngine::GrantLease(const Context& ctx, std::chrono::seconds ttl) {
  auto pass = store_->gate.Enter();
  if (!pass) return kv::NewStoppedError();
  RETURN_IF_ERROR(ctx.Err());
  if (ttl.count() <= 0) return Status(Reason::kInvalid, "a lease needs a positive time to live");
  if (!ctx.may_block()) return NewWouldBlockError();
  auto op = std::make_shared<Op>(Op::Kind::kGrantLease);
  op->ttl = ttl;
  RETURN_IF_ERROR(Run(ctx, op));
  return op->lease;
}

kv::Stats RocksEngine::GetStats() const {
  const auto database = store_->database.Get();
  auto state = store_->state.Lock();
  return {.keys = state->live.size(),
          .bytes = state->bytes,
          .history_bytes = state->history_bytes,
          .file_bytes = database == nullptr ? 0 : database->file_bytes()};
}

Status RocksEngine::Ready() const {
  return store_->gate.shut() ? kv::NewStoppedError() : store_->state.Lock()->broken;
}

Result<std::unique_ptr<kv::Observation>> RocksEngine::Observe(std::string_view prefix,
                                                              kv::Observer& observer) {
  auto pass = store_->gate.Enter();
  if (!pass) return kv::NewStoppedError();
  // The lock is held while the observer is added: the next commit becomes visible in it.
  auto state = store_->state.Lock();
  return store_->observers.Add(prefix, observer, state->revision);
}

Result<std::unique_ptr<kv::Engine>> OpenStore(std::shared_ptr<Store> store,
                                              ProgressReporter& opening) {
  ASSIGN_OR_RETURN(auto database, store->OpenDatabase());
  ASSIGN_OR_RETURN(Recovered recovered, Recover(store->options, *database, opening));
  // Checked before the store is used: an older state must not be served, nor written to.
  const kv::Revision revision = recovered.state.revision;
  RETURN_IF_ERROR(CheckFloor(store->env, store->options.path, revision));
  RETURN_IF_ERROR(RaiseFloor(store->env, store->options.path, revision));
  store->database.Set(std::move(database));
  store->log = ChangeLog::New(recovered.state.revision, recovered.state.revision + 1);
  *store->state.Lock() = std::move(recovered.state);
  return std::make_unique<RocksEngine>(std::move(store), std::move(recovered));
}

}  // namespace

Result<std::unique_ptr<kv::Engine>> Open(Options options) {
  return OpenOver(*rocksdb::Env::Default(), std::move(options));
}

Result<std::unique_ptr<kv::Engine>> OpenOver(rocksdb::Env& env, Options options) {
  if (options.path.empty()) return Status(Reason::kInvalid, "the store needs a path");
  auto store = std::make_shared<Store>(std::move(options), env);
  ProgressReporter opening(store->options.progress, store->options.clock,
                           OpeningJob(store->options));
  // RocksDB reads its log first, and says nothing of how far it is.
  opening.Announce();
  auto engine = OpenStore(std::move(store), opening);
  opening.Finish(engine.status());
  return engine;
}

}  // namespace apiserver::v0::storage::rocks
