#include "storage/rocks/committer.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "storage/kv/errors.h"

namespace apiserver::v0::storage::rocks {
namespace {

// Changes trimmed for each write. More than one, so that trimming keeps up with writing; few, so
// that no write pays for a whole compaction.
constexpr std::size_t kTrimPerWrite = 3;
constexpr std::size_t kTrimPerIdleBatch = 512;
// The longest wait for a batch as large as the last one; see Gather().
constexpr std::chrono::milliseconds kGatherMax{1};
// The interval at which a waiting writer checks its context.
constexpr std::chrono::milliseconds kLook{100};
// The shortest and the longest pause between two attempts to open a broken store.
constexpr std::chrono::milliseconds kRetryFirst{50};
constexpr std::chrono::milliseconds kRetryMax{1000};

}  // namespace

Committer::Committer(Store& store, Recovered recovered)
    : store_(store),
      leases_(std::move(recovered.leases)),
      history_(store.options.history),
      compacted_(store.state.Lock()->compacted),
      lease_thread_(store.options.clock, [this] { ExpireSoon(); }) {
  trimmer_.emplace(store, recovered.oldest_change);
  *store.on_failure.Lock() = [this] {
    queue_.Lock()->failed = true;
    queue_.NotifyAll();
  };
  lease_thread_.Watch(leases_.NextEnd());
  thread_ = Thread("kv-committer", [this] { Run(); });
}

void Committer::ExpireSoon() {
  if (expiring_.exchange(true)) return;
  // Refused only if the queue is full; then the next look at the clock tries again.
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
  do {
    if (!ops.empty()) {
      Commit(ops);
      ops.clear();
    } else if (!broken_ && trimmer_->Pending(compacted_)) {
      TrimWhileIdle();
    }
    if (!broken_) TellOfTrimming();
    Mend();
  } while (Take(ops));
}

bool Committer::Take(std::vector<OpRef>& ops) {
  const bool idle_work = !broken_ && trimmer_->Pending(compacted_);
  auto queue = queue_.Lock();
  if (last_size_ > 1) Gather(queue);
  queue->wake_at = 1;
  const auto woken = [&queue] { return !queue->ops.empty() || queue->stopping || queue->failed; };
  if (broken_ && !lost_) {
    (void)queue.WaitUntil(retry_at_, woken);
  } else if (!idle_work) {
    queue.Wait(woken);
  }
  queue->failed = false;
  ops.swap(queue->ops);
  last_size_ = ops.size();
  return !ops.empty() || !queue->stopping;
}

// Waits a moment for as many writes as in the last batch: writers that were answered together come
// again together, a few microseconds later. Without this the first of them would get a sync for
// itself and the others would wait for two.
void Committer::Gather(Guarded<Queue>::Locked& queue) {
  queue->wake_at = last_size_;
  const auto patience = std::min<std::chrono::nanoseconds>(last_sync_ / 4, kGatherMax);
  queue.WaitUntil(RealClock().Now() + patience,
                  [this, &queue] { return queue->ops.size() >= last_size_ || queue->stopping; });
}

void Committer::Commit(std::vector<OpRef>& ops) {
  if (broken_) {
    // The writes are refused, not queued: their clients should not wait until the disk is repaired.
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
      trimmer_->Add(batch.rocks(), compacted_, batch.size() * kTrimPerWrite, freed_bytes);
  const auto begin = RealClock().Now();
  if (status.ok()) status = store_.database.Get()->Write(batch.rocks(), /*sync=*/true);
  last_sync_ = RealClock().Now() - begin;
  if (!status.ok()) {
    Break(status);
    return status;
  }
  Publish(batch, freed_bytes);
  return Status::Ok();
}

void Committer::Publish(Batch& batch, std::size_t freed_bytes) {
  Shown shown;
  {
    auto state = store_.state.Lock();
    batch.ApplyTo(*state);
    state->history_bytes -= std::min(freed_bytes, state->history_bytes);
  }
  if (batch.has_events()) shown.events = batch.TakeEvents();
  shown.revision = batch.revision();
  shown.compacted = batch.compacted();
  Show(shown);
}

void Committer::Show(const Shown& shown) {
  if (shown.events != nullptr) {
    const Events& events = shown.events;
    // Observers come first, so that a cache answers from memory what a reader of the log has seen.
    store_.observers.Commit(*events, shown.revision);
    std::vector<Change> changes;
    changes.reserve(events->size());
    for (std::size_t i = 0; i < events->size(); ++i) changes.push_back({events, i});
    store_.log->Append(changes, shown.revision);
    Revision first = 0;
    {
      auto recent = store_.recent.Lock();
      recent->Add(*events);
      first = recent->first();
    }
    store_.log->TrimBelow(first);
  }
  if (shown.compacted > 0) {
    compacted_ = shown.compacted;
    store_.log->TrimBelow(compacted_);
    store_.observers.Compact(compacted_);
  }
}

void Committer::Break(const Status& why) {
  broken_ = true;
  retry_at_ = RealClock().Now();
  retry_after_ = kRetryFirst;
  lease_thread_.Watch(std::nullopt);
  store_.state.Lock()->broken = why;
  Log(store_.options.log, LogLevel::kError, "the store cannot be written to",
      {{"path", store_.options.path}, {"error", std::string(why.message())}});
}

void Committer::Mend() {
  if (!broken_) {
    const Status failed = store_.database.Get()->background_error();
    if (failed.ok()) return;
    Break(failed);
  }
  if (lost_ || RealClock().Now() < retry_at_) return;
  const Status status = Reopen();
  if (status.ok()) {
    broken_ = false;
    Log(store_.options.log, LogLevel::kInfo, "the store can be written to again",
        {{"path", store_.options.path}});
    return;
  }
  retry_at_ = RealClock().Now() + retry_after_;
  retry_after_ = std::min(2 * retry_after_, kRetryMax);
  store_.state.Lock()->broken = status;
  if (!lost_) return;
  Log(store_.options.log, LogLevel::kError, "the store is lost",
      {{"path", store_.options.path}, {"error", std::string(status.message())}});
}

Status Committer::Reopen() {
  // Closing takes the database from the readers, so the disk is probed first.
  if (const auto open = store_.database.Get()) RETURN_IF_ERROR(open->Probe());
  trimmer_.reset();
  store_.database.Close();
  ProgressReporter::Job job = OpeningJob(store_.options);
  job.routine = true;  // It may be tried every second, and the log knows that the store is broken.
  ProgressReporter opening(store_.options.progress, store_.options.clock, std::move(job));
  opening.Announce();
  Status status = OpenAgain(opening);
  opening.Finish(status);
  return status;
}

Status Committer::OpenAgain(ProgressReporter& opening) {
  ASSIGN_OR_RETURN(auto opened, store_.OpenDatabase());
  store_.database.Set(std::move(opened));
  ASSIGN_OR_RETURN(Recovered found, Recover(store_.options, *store_.database.Get(), opening));
  return Adopt(std::move(found));
}

Status Committer::Adopt(Recovered found) {
  const Revision before = store_.state.Lock()->revision;
  // The disk holds less than was confirmed to clients: going on would give revisions out twice.
  if (found.state.revision < before) {
    lost_ = true;
    return NewCorruptError("its disk has lost what it had confirmed, revisions " +
                           std::to_string(found.state.revision + 1) + " to " +
                           std::to_string(before) + "; restore it from a backup");
  }
  ASSIGN_OR_RETURN(std::vector<kv::Event> events, ReadChanges(*store_.database.Get(), before + 1));
  leases_ = std::move(found.leases);
  trimmer_.emplace(store_, found.oldest_change);
  Shown shown;
  shown.revision = found.state.revision;
  if (found.state.compacted > compacted_) shown.compacted = found.state.compacted;
  std::swap(*store_.state.Lock(), found.state);
  if (!events.empty()) {
    shown.events = std::make_shared<const std::vector<kv::Event>>(std::move(events));
  }
  Show(shown);
  expiring_ = false;
  lease_thread_.Watch(leases_.NextEnd());
  return Status::Ok();
}

void Committer::TrimWhileIdle() {
  rocksdb::WriteBatch batch;
  std::size_t freed_bytes = 0;
  Status status = trimmer_->Add(batch, compacted_, kTrimPerIdleBatch, freed_bytes);
  // Synced, although a lost trim would just be made again: so a power cut spoils one write at most,
  // and a hole before another record is known to be damage.
  if (status.ok() && batch.Count() > 0) {
    status = store_.database.Get()->Write(batch, /*sync=*/true);
  }
  if (!status.ok()) return Break(status);
  auto state = store_.state.Lock();
  state->history_bytes -= std::min(freed_bytes, state->history_bytes);
}

void Committer::TellOfTrimming() {
  const std::uint64_t left = trimmer_->Left(compacted_);
  if (left > 0 && !compaction_) {
    compaction_.emplace(store_.options.progress, store_.options.clock,
                        ProgressReporter::Job{.what = "compaction",
                                              .subject = store_.options.path,
                                              .unit = "changes",
                                              .routine = true});
  }
  if (!compaction_) return;
  compaction_->UpdateLeft(left);
  if (left > 0) return;
  compaction_->Finish();
  compaction_.reset();
}

void Committer::CompactByPolicy() {
  if (trimmer_->Pending(compacted_)) return;
  kv::HistoryPolicy::Held held;
  {
    auto state = store_.state.Lock();
    held = {state->revision, state->compacted, state->history_bytes};
  }
  const auto revision = history_.Next(held, store_.options.clock.Now());
  if (!revision) return;
  auto op = std::make_shared<Op>(Op::Kind::kCompact);
  op->compact_at = *revision;
  // Refused only if the queue is full; the policy decides the same after the next batch.
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

}  // namespace apiserver::v0::storage::rocks
