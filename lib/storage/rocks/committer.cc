#include "storage/rocks/committer.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "storage/kv/errors.h"

namespace apiserver::inline v0::storage::rocks {
namespace {

// Trimmed with each write, so that compaction is paid off while it is paid in small coins.
constexpr std::size_t kTrimPerWrite = 3;
constexpr std::size_t kTrimPerIdleBatch = 512;
// How long the committer waits for a batch as large as the last one; see Gather().
constexpr std::chrono::milliseconds kGatherMax{1};
// How long a waiting writer goes without a look at its context.
constexpr std::chrono::milliseconds kLook{100};

}  // namespace

Committer::Committer(Store& store, Start start)
    : store_(store),
      leases_(std::move(start.leases)),
      history_(store.options.history),
      trimmer_(store, start.oldest_change),
      compacted_(store.state.Lock()->compacted),
      lease_thread_(store.options.clock, [this] { ExpireSoon(); }) {
  lease_thread_.Watch(leases_.NextEnd());
  thread_ = Thread("kv-committer", [this] { Run(); });
}

void Committer::ExpireSoon() {
  if (expiring_.exchange(true)) return;
  // Refused only when the queue is full; then the next look at the clock tries again.
  if (!Enqueue(std::make_shared<Op>(Op::Kind::kExpireLeases)).ok()) expiring_ = false;
}

Status Committer::Enqueue(OpRef op) {
  bool wake = false;
  {
    auto queue = queue_.Lock();
    if (queue->stopping) return kv::NewStoppedError();
    if (queue->ops.size() >= store_.options.queue_max) {
      return Status(Reason::kServiceUnavailable, "too many writes wait for the disk");
    }
    queue->ops.push_back(std::move(op));
    wake = queue->ops.size() == queue->wake_at;
  }
  if (wake) queue_.NotifyOne();
  return Status::Ok();
}

Status Committer::Await(const Context& ctx, Op& op) {
  while (!op.completion.WaitFor(kLook)) {
    RETURN_IF_ERROR(ctx.Err());
  }
  return op.status;
}

void Committer::Stop() {
  lease_thread_.Stop();
  queue_.Lock()->stopping = true;
  queue_.NotifyAll();
  if (thread_.joinable()) thread_.Join();
}

void Committer::Run() {
  std::vector<OpRef> ops;
  while (Take(ops)) {
    if (ops.empty()) {
      TrimWhileIdle();
      continue;
    }
    Commit(ops);
    ops.clear();
  }
}

bool Committer::Take(std::vector<OpRef>& ops) {
  const bool idle_work = !broken_ && trimmer_.Pending(compacted_);
  auto queue = queue_.Lock();
  if (last_size_ > 1) Gather(queue);
  queue->wake_at = 1;
  if (!idle_work) queue.Wait([&queue] { return !queue->ops.empty() || queue->stopping; });
  ops.swap(queue->ops);
  last_size_ = ops.size();
  return !ops.empty() || !queue->stopping;
}

// Writers that were answered together come again together, a few microseconds later. Without this
// the first of them would get a sync for itself and the others wait for two.
void Committer::Gather(Guarded<Queue>::Locked& queue) {
  queue->wake_at = last_size_;
  const auto patience = std::min<std::chrono::nanoseconds>(last_sync_ / 4, kGatherMax);
  queue.WaitUntil(RealClock().Now() + patience,
                  [this, &queue] { return queue->ops.size() >= last_size_ || queue->stopping; });
}

void Committer::Commit(std::vector<OpRef>& ops) {
  if (broken_) {
    const Status why = store_.state.Lock()->broken;
    for (const OpRef& op : ops) Answer(*op, why);
    return;
  }
  Batch batch(store_, leases_);
  const Clock::Monotonic now = store_.options.clock.Now();
  for (const OpRef& op : ops) batch.Add(*op, now);
  Status failed;
  if (!batch.empty()) failed = Write(batch);
  if (batch.leases_changed() && failed.ok()) {
    expiring_ = false;
    lease_thread_.Watch(leases_.NextEnd());
  }
  for (const OpRef& op : ops) Answer(*op, failed);
  if (failed.ok()) CompactByPolicy();
}

Status Committer::Write(Batch& batch) {
  std::size_t freed_bytes = 0;
  Status status =
      trimmer_.Add(batch.rocks(), compacted_, batch.size() * kTrimPerWrite, freed_bytes);
  const auto begin = RealClock().Now();
  if (status.ok()) status = store_.database->Write(batch.rocks(), /*sync=*/true);
  last_sync_ = RealClock().Now() - begin;
  if (!status.ok()) {
    Break(status);
    return status;
  }
  Publish(batch, freed_bytes);
  return Status::Ok();
}

void Committer::Publish(Batch& batch, std::size_t freed_bytes) {
  std::shared_ptr<const Observers> observers;
  {
    auto state = store_.state.Lock();
    batch.ApplyTo(*state);
    state->history_bytes -= std::min(freed_bytes, state->history_bytes);
    observers = state->observers;
  }
  if (batch.has_events()) {
    const Events events = batch.TakeEvents();
    for (const auto& observer : *observers) observer->OnCommit(*events, batch.revision());
    std::vector<Change> changes;
    changes.reserve(events->size());
    for (std::size_t i = 0; i < events->size(); ++i) changes.push_back({events, i});
    store_.log->Append(changes, batch.revision());
    Revision first = 0;
    {
      auto recent = store_.recent.Lock();
      recent->Add(*events);
      first = recent->first();
    }
    store_.log->TrimBelow(first);
  }
  if (batch.compacted() > 0) {
    compacted_ = batch.compacted();
    store_.log->TrimBelow(compacted_);
    for (const auto& observer : *observers) observer->OnCompact(compacted_);
  }
}

// A write that failed may be on disk in part or whole; only opening the store again can tell.
void Committer::Break(const Status& why) {
  broken_ = true;
  lease_thread_.Watch(std::nullopt);
  store_.state.Lock()->broken = why;
  Log(store_.options.log, LogLevel::kError, "the store cannot be written to any more",
      {{"path", store_.options.path}, {"error", std::string(why.message())}});
}

void Committer::TrimWhileIdle() {
  rocksdb::WriteBatch batch;
  std::size_t freed_bytes = 0;
  Status status = trimmer_.Add(batch, compacted_, kTrimPerIdleBatch, freed_bytes);
  // Without a sync: what is lost is trimmed again.
  if (status.ok() && batch.Count() > 0) status = store_.database->Write(batch, /*sync=*/false);
  if (!status.ok()) return Break(status);
  auto state = store_.state.Lock();
  state->history_bytes -= std::min(freed_bytes, state->history_bytes);
}

void Committer::CompactByPolicy() {
  if (trimmer_.Pending(compacted_)) return;
  kv::HistoryPolicy::Held held;
  {
    auto state = store_.state.Lock();
    held = {state->revision, state->compacted, state->history_bytes};
  }
  const auto revision = history_.Next(held, store_.options.clock.Now());
  if (!revision) return;
  auto op = std::make_shared<Op>(Op::Kind::kCompact);
  op->compact_at = *revision;
  // Refused only when the queue is full; the policy says the same after the next batch.
  (void)Enqueue(std::move(op));
}

void Committer::Answer(Op& op, const Status& failed) {
  if (!failed.ok()) op.status = failed;
  if (!op.done) return op.completion.Complete();
  if (op.status.ok()) {
    op.done(std::move(op.response));
  } else {
    op.done(op.status);
  }
}

}  // namespace apiserver::inline v0::storage::rocks
