#include "storage/cacher/feed.h"

#include <utility>

#include "base/status_macros.h"

namespace apiserver::inline v0::storage::cacher {

// What the engine keeps for as long as it lives; the cache may go before.
class Feed::EngineObserver final : public kv::Observer {
 public:
  EngineObserver(std::weak_ptr<Feed> feed, std::weak_ptr<Cache> cache)
      : feed_(std::move(feed)), cache_(std::move(cache)) {}

  void OnCommit(const std::vector<kv::Event>& events, kv::Revision revision) override {
    if (const auto feed = feed_.lock()) feed->Observe(events, revision);
  }
  void OnCompact(kv::Revision compacted) override {
    if (const auto cache = cache_.lock()) cache->Compact(compacted);
  }

 private:
  const std::weak_ptr<Feed> feed_;
  const std::weak_ptr<Cache> cache_;
};

Feed::Feed(Options options, std::shared_ptr<Cache> cache)
    : options_(std::move(options)), cache_(std::move(cache)) {}

Status Feed::Start(const Context& ctx) {
  const auto begin =
      options_.engine->AddObserver(std::make_shared<EngineObserver>(weak_from_this(), cache_));
  observes_ = begin.ok();
  if (!begin.ok() && begin.status().reason() != Reason::kMethodNotAllowed) return begin.status();
  return ctx.may_block() ? EnsureLoaded(ctx) : Status();
}

void Feed::Observe(const std::vector<kv::Event>& events, kv::Revision revision) {
  // Held while the cache changes, so that what waited here is applied before what comes now.
  auto inbox = inbox_.Lock();
  if (inbox->loaded) {
    cache_->Apply(events, revision);
    return;
  }
  Pending mine{{}, revision};
  for (const kv::Event& event : events) {
    if (event.kv.key.starts_with(options_.prefix)) mine.events.push_back(event);
  }
  inbox->pending.push_back(std::move(mine));
}

Status Feed::EnsureLoaded(const Context& ctx) {
  {
    auto state = state_.Lock();
    if (cache_->ready()) return {};
    if (state->stopped) return Status(Reason::kServiceUnavailable, "the watch cache is stopped");
    const bool early = options_.clock->Now() < state->retry_at;
    if (state->loading || early) {
      return state->failure.ok() ? Status(Reason::kServiceUnavailable, "storage not ready")
                                 : state->failure;
    }
    state->loading = true;
  }
  Status status = Load(ctx);
  auto state = state_.Lock();
  state->loading = false;
  state->failure = status;
  if (!status.ok()) state->retry_at = options_.clock->Now() + kRetryAfter;
  return status;
}

Status Feed::Load(const Context& ctx) {
  kv::RangeRequest request;
  request.key = options_.prefix;
  request.end = kv::PrefixEnd(options_.prefix);
  ASSIGN_OR_RETURN(const kv::RangeResponse response, options_.engine->Range(ctx, request));
  if (!observes_) {
    cache_->Reset(TreeOf(response.kvs), response.revision);
    return FollowFrom(response.revision + 1);
  }
  Finish(response.kvs, response.revision);
  return {};
}

Tree Feed::TreeOf(const std::vector<kv::KeyValue>& state) const {
  Tree tree;
  for (const kv::KeyValue& kv : state) tree.Put(cache_->NewEntry(kv));
  return tree;
}

void Feed::Finish(const std::vector<kv::KeyValue>& state, kv::Revision revision) {
  auto inbox = inbox_.Lock();
  cache_->Reset(TreeOf(state), revision);
  for (Pending& pending : inbox->pending) {
    if (pending.revision <= revision) continue;
    std::erase_if(pending.events,
                  [revision](const kv::Event& event) { return event.kv.mod_revision <= revision; });
    cache_->Apply(pending.events, pending.revision);
  }
  inbox->pending.clear();
  inbox->loaded = true;
}

Status Feed::FollowFrom(kv::Revision revision) {
  ASSIGN_OR_RETURN(auto tail, options_.engine->NewTail(options_.prefix, revision));
  {
    auto state = state_.Lock();
    if (state->stopped) return Status(Reason::kServiceUnavailable, "the watch cache is stopped");
    state->tail = std::move(tail);
  }
  options_.executor->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnWake();
  });
  return {};
}

void Feed::OnWake() {
  const Waker waker(*options_.executor, weak_from_this());
  // The lock makes one reader of us even on a pool.
  auto state = state_.Lock();
  while (state->tail != nullptr && !state->stopped) {
    kv::EventBatch batch;
    switch (state->tail->Next(batch, waker)) {
      case kv::Tail::State::kEvents:
        cache_->Apply(batch.events, batch.complete_up_to);
        break;
      case kv::Tail::State::kWait:
        return;
      case kv::Tail::State::kEnd:
        Log(*options_.log, LogLevel::kWarning, "watch cache lost its engine's log; it begins anew",
            {{"prefix", options_.prefix}, {"why", state->tail->status().ToString()}});
        state->tail.reset();
        cache_->Close();
        return;
    }
  }
}

void Feed::Stop() {
  std::unique_ptr<kv::Tail> tail;
  {
    auto state = state_.Lock();
    state->stopped = true;
    tail = std::move(state->tail);
  }
  cache_->Close();
}

}  // namespace apiserver::inline v0::storage::cacher
