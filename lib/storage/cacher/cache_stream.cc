#include "storage/cacher/cache_stream.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "storage/corrupt_objects.h"
#include "storage/kv/revision.h"
#include "storage/store/stored_value.h"

namespace apiserver::v0::storage::cacher {
namespace {

// The events that a watch is mostly given at once, at the most.
constexpr std::size_t kEventsUsual = 16;

// Returns whether an object of `change` cannot be used.
bool HasCorruption(const Change& change) {
  return (change.now && !change.now->unusable.ok()) ||
         (change.before && !change.before->unusable.ok());
}

// Returns why `change` cannot be shown. Without a selector the object before it is not looked at.
Status CorruptionOf(const Change& change, bool select_all) {
  if (change.now && !change.now->unusable.ok()) return NewCorruptEvent(change.now->unusable, false);
  if (!change.before || change.before->unusable.ok()) return {};
  if (change.now && select_all) return {};
  return NewCorruptEvent(change.before->unusable, !change.now);
}

}  // namespace

CacheStream::CacheStream(const Context& ctx, std::shared_ptr<const StreamSource> source,
                         Start start, BookmarkTimes times)
    : ctx_(ctx),
      source_(std::move(source)),
      start_(std::move(start)),
      maker_(*source_->store.kind, start_.scope.predicate.get()),
      times_(times),
      ticket_(*source_->bookmarks),
      position_(start_.after),
      log_(source_->cache->log()) {
  // A server has thousands, and the allocator gives each that is larger 320 bytes.
  static_assert(sizeof(CacheStream) <= 256);
  times_.Schedule(source_->clock->Now());
}

watch::Stream::State CacheStream::Fail(const Status& error, std::vector<watch::Event>& events) {
  log_.reset();
  const Status unselectable = maker_.Flush(ctx_, events);
  events.push_back(NewErrorEvent(unselectable.ok() ? error : unselectable));
  return State::kEnd;
}

CacheStream::Outcome CacheStream::NextOfState(std::vector<watch::Event>& events, std::size_t end) {
  const store::WatchScope& scope = start_.scope;
  if (start_.state) {
    if (!next_of_state_) {
      next_of_state_ = std::make_unique<Tree::Iterator>(start_.state->tree.LowerBound(scope.key));
    }
    for (auto& next = *next_of_state_; next.Valid(); next.Next()) {
      const Entry& entry = *next.value();
      if (!entry.key().starts_with(scope.key)) break;
      if (!scope.Covers(entry.key())) continue;
      if (SizeOf(events) >= end) break;
      if (!entry.unusable.ok()) return Fail(NewCorruptEvent(entry.unusable, false), events);
      const std::string version = std::to_string(entry.revision);
      // Objects of the state come as ADDED: the client has none of them yet.
      const storage::Change change{entry.object, nullptr, version};
      const Status error = maker_.Add(ctx_, change, events);
      if (!error.ok()) return Fail(error, events);
    }
    const bool full = SizeOf(events) >= end;
    const Status error = maker_.Flush(ctx_, events);
    if (!error.ok()) return Fail(error, events);
    if (full) return State::kMore;
    next_of_state_.reset();
    start_.state.reset();
  }
  if (start_.announce_end) {
    if (events.size() >= end) return State::kMore;
    start_.announce_end = false;
    events.push_back(NewBookmark(std::to_string(position_), true));
  }
  return std::nullopt;
}

Status CacheStream::FollowEngine() {
  ASSIGN_OR_RETURN(auto tail, source_->engine->NewTail(start_.scope.key, kv::After(position_)));
  engine_log_ = std::make_unique<store::TailReader>(
      std::move(tail), *source_->store.kind, start_.scope,
      [options = source_->store](std::string_view key, const kv::Bytes& stored,
                                 kv::Revision revision) {
        return store::DecodeStored(options, key, stored, revision);
      });
  return {};
}

CacheStream::Outcome CacheStream::NextOfEngine(std::vector<watch::Event>& events, std::size_t end,
                                               const Waker& waker) {
  if (engine_log_ == nullptr) {
    const Status error = FollowEngine();
    if (!error.ok()) return Fail(error, events);
  }
  const State state = engine_log_->Next(ctx_, events, end - events.size(), waker);
  position_ = std::max(position_, engine_log_->complete_up_to());
  if (state == State::kEnd) log_.reset();
  if (state != State::kWait) return state;
  // The engine may be behind the cache's floor for a moment; then it will wake this stream.
  if (kv::After(position_) < log_->floor()) return state;
  engine_log_.reset();
  return std::nullopt;
}

void CacheStream::Join() { cursor_ = log_->NewCursor(start_.scope.key, kv::After(position_)); }

void CacheStream::AppendBookmark(std::vector<watch::Event>& events, kv::Revision seen,
                                 const Waker& waker) {
  if (!start_.bookmarks) return;
  const Clock::Monotonic now = source_->clock->Now();
  if (now >= times_.next()) {
    events.push_back(NewBookmark(std::to_string(std::max(seen, position_)), false));
    times_.Schedule(now);
  }
  ticket_.Set(times_.next(), waker);
}

Result<ChangeLog::Cursor::Read> CacheStream::Read(std::size_t events_max,
                                                  std::vector<watch::Event>& events,
                                                  const Waker& waker) {
  const store::WatchScope& scope = start_.scope;
  const runtime::ObjectPtr none;
  Status refused;
  const auto read = cursor_->Next(events_max, waker, [&](const ChangeRef& change) {
    if (change->revision <= start_.after || !scope.Covers(change->key())) return;
    if (refused.ok() && HasCorruption(*change)) {
      refused = CorruptionOf(*change, scope.predicate == nullptr);
    }
    if (!refused.ok()) return;
    if (events.capacity() == 0) events.reserve(std::min(events_max, kEventsUsual));
    const auto object = [&none](const EntryRef& entry) -> const runtime::ObjectPtr& {
      return entry ? entry->object : none;
    };
    const storage::Change what{object(change->now), object(change->before), change->version};
    refused = maker_.Add(ctx_, what, events);
  });
  RETURN_IF_ERROR(refused);
  RETURN_IF_ERROR(maker_.Flush(ctx_, events));
  return read;
}

watch::Stream::State CacheStream::NextOfLog(std::vector<watch::Event>& events, std::size_t end,
                                            const Waker& waker) {
  // Read before the log: a bookmark may promise no revision whose events might still be unread.
  const kv::Revision seen = source_->cache->published();
  while (events.size() < end) {
    const auto read = Read(end - events.size(), events, waker);
    if (!read.ok()) return Fail(read.status(), events);
    position_ = std::max(position_, read->complete_up_to);
    switch (read->state) {
      case ChangeLog::Cursor::State::kEvents:
        break;
      case ChangeLog::Cursor::State::kWait:
        AppendBookmark(events, seen, waker);
        return State::kWait;
      case ChangeLog::Cursor::State::kTrimmed:
        // The watch is too slow: its client resumes at its last revision, and is then fed from the
        // engine's log.
        if (source_->on_slow_watch) source_->on_slow_watch();
        log_.reset();
        return State::kEnd;
      case ChangeLog::Cursor::State::kClosed:
        log_.reset();
        return State::kEnd;
    }
  }
  return State::kMore;
}

watch::Stream::State CacheStream::Next(std::vector<watch::Event>& events, std::size_t events_max,
                                       const Waker& waker) {
  if (log_ == nullptr) return State::kEnd;
  const std::size_t end = events.size() + events_max;
  if (const Outcome outcome = NextOfState(events, end)) return *outcome;
  if (cursor_ == nullptr) {
    // The cache's log begins after this watch's position, so the gap is read from the engine's log
    // first.
    if (engine_log_ != nullptr || kv::After(position_) < log_->floor()) {
      if (const Outcome outcome = NextOfEngine(events, end, waker)) return *outcome;
      start_.after = std::max(start_.after, position_);
    }
    Join();
  }
  return NextOfLog(events, end, waker);
}

}  // namespace apiserver::v0::storage::cacher
