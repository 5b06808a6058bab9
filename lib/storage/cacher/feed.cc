#include "storage/cacher/feed.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/status_macros.h"
#include "storage/cacher/page_reader.h"

namespace apiserver::v0::storage::cacher {

namespace {

std::vector<const kv::Event*> PointersTo(const std::vector<kv::Event>& events) {
  std::vector<const kv::Event*> pointers;
  pointers.reserve(events.size());
  for (const kv::Event& event : events) pointers.push_back(&event);
  return pointers;
}

}  // namespace

Feed::Feed(Options options, std::shared_ptr<Cache> cache)
    : options_(std::move(options)),
      cache_(std::move(cache)),
      ctx_(Context::Child(Context::Background())),
      progress_(options_.progress, *options_.clock,
                {.what = "warm-up", .subject = options_.prefix, .unit = "objects"}) {}

void Feed::Start() {
  // The engine says itself if it can be observed: an engine on another machine cannot.
  auto observation = options_.engine->Observe(options_.prefix, *this);
  observes_ = observation.ok();
  if (!observes_) return PostLoad();
  cache_->Observe((*observation)->progress());
  *observation_.Lock() = std::move(*observation);
  state_.Lock()->loading = true;
  Load();
}

void Feed::OnCommit(std::span<const kv::Event* const> events, kv::Revision revision) {
  // The lock is held while the cache changes, so that the waiting events are applied before the new
  // ones.
  auto inbox = inbox_.Lock();
  if (inbox->loaded) {
    cache_->Apply(events, revision);
    return;
  }
  Pending mine{{}, revision};
  for (const kv::Event* event : events) mine.events.push_back(*event);
  inbox->pending.push_back(std::move(mine));
}

void Feed::PostLoad() {
  {
    auto state = state_.Lock();
    if (state->stopped || state->loading) return;
    state->loading = true;
  }
  // A weak reference: a task in the executor must not keep a cache alive that its server has given
  // up.
  options_.executor->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Load();
  });
}

void Feed::Load() {
  {
    auto state = state_.Lock();
    if (state->stopped) return;
    state->reading = true;
  }
  // The state read from now on contains everything observed before.
  inbox_.Lock()->pending.clear();
  auto loaded = ReadAll();
  if (!loaded.ok()) return End(loaded.status());
  const kv::Revision revision = loaded->revision;
  Finish(std::move(*loaded));
  if (observes_) return End({});
  const Status followed = FollowFrom(revision + 1);
  End(followed);
  if (!followed.ok()) return;
  // Not before End(): a tail that has lost its place already begins a new load.
  options_.executor->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnWake();
  });
}

void Feed::End(const Status& status) {
  // Before reads are woken, which answer with the failure.
  if (status.ok()) {
    progress_.Finish();
  } else if (!state_.Lock()->stopped) {
    progress_.Fail(status);
  }
  {
    auto state = state_.Lock();
    state->loading = state->reading = false;
    state->failures = status.ok() ? 0 : state->failures + 1;
    if (!status.ok() && !state->stopped) {
      // Each failure doubles the delay up to kRetryMax, so that a broken engine is not asked
      // without pause.
      const auto delay = std::min(kRetryMin * (1 << std::min(state->failures - 1, 5)), kRetryMax);
      state->retry = options_.executor->PostAfter(delay, [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->PostLoad();
      });
    }
  }
  state_.NotifyAll();
}

// The state has what was observed before, too, since it has all that was acknowledged.
std::optional<Feed::Loaded> Feed::TakeOver() {
  const std::shared_ptr<Interface> predecessor = std::exchange(options_.predecessor, nullptr);
  if (predecessor == nullptr) return std::nullopt;
  const std::optional<StoredState> state = predecessor->StateInMemory(ctx_);
  if (!state) return std::nullopt;
  Loaded loaded;
  for (const StoredState::Value& value : state->values) loaded.tree.Put(cache_->NewEntry(value));
  loaded.revision = state->revision;
  progress_.Update(loaded.tree.size(), loaded.tree.size());
  return loaded;
}

Result<Feed::Loaded> Feed::ReadAll() {
  if (auto taken = TakeOver()) return *std::move(taken);
  Loaded loaded;
  PageReader reader(*options_.engine, ctx_, options_.prefix, /*ahead=*/!observes_);
  for (std::size_t total = 0;;) {
    RETURN_IF_ERROR(ctx_.Err(*options_.clock));
    ASSIGN_OR_RETURN(const auto page, reader.Next());
    if (!page) break;
    if (total == 0) total = page->count;
    for (const kv::KeyValue& kv : page->kvs) loaded.tree.Put(cache_->NewEntry(kv));
    progress_.Update(loaded.tree.size(), total);
  }
  loaded.revision = reader.revision();
  return loaded;
}

void Feed::Finish(Loaded loaded) {
  const kv::Revision revision = loaded.revision;
  if (!observes_) return cache_->Reset(std::move(loaded.tree), revision);
  auto inbox = inbox_.Lock();
  cache_->Reset(std::move(loaded.tree), revision);
  for (Pending& pending : inbox->pending) {
    // The state was read while commits went on, so it contains some of the waiting events already.
    if (pending.revision <= revision) continue;
    std::erase_if(pending.events,
                  [revision](const kv::Event& event) { return event.kv.mod_revision <= revision; });
    cache_->Apply(PointersTo(pending.events), pending.revision);
  }
  inbox->pending.clear();
  inbox->loaded = true;
  cache_->KeepUp();
}

Status Feed::FollowFrom(kv::Revision revision) {
  ASSIGN_OR_RETURN(auto tail, options_.engine->NewTail(options_.prefix, revision));
  {
    auto state = state_.Lock();
    if (state->stopped) return Status(Reason::kServiceUnavailable, "the watch cache is stopped");
    state->tail = std::move(tail);
  }
  return {};
}

void Feed::OnWake() {
  const Waker waker(*options_.executor, weak_from_this());
  Status why;
  {
    // The lock makes one reader of the threads of a pool.
    auto state = state_.Lock();
    while (state->tail != nullptr && !state->stopped) {
      kv::EventBatch batch;
      const kv::Tail::State next = state->tail->Next(batch, waker);
      if (next == kv::Tail::State::kWait) return;
      if (next == kv::Tail::State::kEnd) {
        why = state->tail->status();
        state->tail.reset();
        break;
      }
      cache_->Apply(PointersTo(batch.events), batch.complete_up_to);
    }
    if (why.ok()) return;
  }
  Lose(why);
}

void Feed::Lose(const Status& why) {
  Log(*options_.log, LogLevel::kWarning, "watch cache lost its engine's log; it begins anew",
      {{"prefix", options_.prefix}, {"why", why.ToString()}});
  // Open watches end: the cache cannot tell which events it will have missed.
  cache_->Close();
  progress_.Restart(why);
  PostLoad();
}

bool Feed::WaitReady(const Context& ctx, Clock::Monotonic deadline) const {
  if (cache_->ready()) return true;
  const auto end = std::min(deadline, ctx.deadline().value_or(deadline));
  auto state = state_.Lock();
  (void)state.WaitUntil(end, [&] {
    // A load that has failed before may go on failing, so the client is refused at once.
    return cache_->ready() || state->failures > 0 || state->stopped;
  });
  return cache_->ready();
}

// Follows calculateRetryAfterForUnreadyCache of Go's cacher: the longer it takes, the later clients
// ask again.
int Feed::RetryAfterSeconds() const {
  const double down = std::chrono::duration<double>(warm_up().elapsed()).count();
  return static_cast<int>(std::clamp(std::exp(0.06 * down), 1.0, 30.0));
}

void Feed::AskForProgress(const Context& ctx) {
  {
    auto state = state_.Lock();
    // A thread can only wait by the machine's clock.
    const Clock::Monotonic now = RealClock().Now();
    const kv::Revision seen = cache_->revision();
    if (seen <= state->asked_at && now < state->asked + kAskAgain) return;
    state->asked = now;
    state->asked_at = seen;
  }
  (void)options_.engine->RequestProgress(ctx);  // The waiting reads will see whether it helped.
}

void Feed::Stop() {
  ctx_.Cancel(Status(Reason::kServiceUnavailable, "the watch cache is stopped"));
  std::unique_ptr<kv::Tail> tail;
  Executor::Cancel retry;
  {
    auto state = state_.Lock();
    state->stopped = true;
    tail = std::move(state->tail);
    retry = std::move(state->retry);
  }
  if (retry) retry();
  // Moved out of its lock: the destructor waits for a call that is running.
  auto observation = std::exchange(*observation_.Lock(), nullptr);
  observation.reset();
  state_.NotifyAll();
  {
    auto state = state_.Lock();
    state.Wait([&] { return !state->reading; });
  }
  progress_.Finish(Status(Reason::kServiceUnavailable, "the watch cache is stopped"));
  cache_->Close();
}

}  // namespace apiserver::v0::storage::cacher
