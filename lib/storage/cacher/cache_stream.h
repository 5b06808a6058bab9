#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "apiserver/meta/watch.h"
#include "storage/cacher/bookmark_clock.h"
#include "storage/cacher/cache.h"
#include "storage/store/tail_stream.h"
#include "storage/watch_events.h"

namespace apiserver::inline v0::storage::cacher {

// The parts that all watches of a cache share.
struct StreamSource {
  std::shared_ptr<Cache> cache;
  std::shared_ptr<BookmarkClock> bookmarks;
  kv::Engine* engine;
  store::Options store;
  const Clock* clock;
  std::function<void()> on_slow_watch;
};

// A watch over a cache: the state first if it is wanted, then changes. Changes that the cache's log
// no longer has are read from the engine's log; then the watch joins the cache's. From there on it
// must keep up: it ends once the log has dropped an event it has not read.
class CacheStream final : public watch::Stream {
 public:
  struct Start {
    store::WatchScope scope;
    kv::Revision after = 0;  // Changes up to this revision are not sent.
    // The state to be sent as ADDED. Null: none; it is let go once it is sent.
    std::unique_ptr<View> state;
    bool announce_end = false;
    bool bookmarks = false;
  };
  // Objects are converted with `ctx` if the predicate wants it.
  CacheStream(const Context& ctx, std::shared_ptr<const StreamSource> source, Start start,
              BookmarkTimes times);

  State Next(std::vector<watch::Event>& events, std::size_t events_max,
             const Waker& waker) override;

 private:
  // The outcome of a phase: a state to return, or nullopt to go on with the next phase.
  using Outcome = std::optional<State>;
  Outcome NextOfState(std::vector<watch::Event>& events, std::size_t end);
  Outcome NextOfEngine(std::vector<watch::Event>& events, std::size_t end, const Waker& waker);
  State NextOfLog(std::vector<watch::Event>& events, std::size_t end, const Waker& waker);
  void Join();
  void AppendBookmark(std::vector<watch::Event>& events, kv::Revision seen, const Waker& waker);
  Status FollowEngine();
  // Ends the watch with `error`, after the events that came before it.
  State Fail(const Status& error, std::vector<watch::Event>& events);
  std::size_t SizeOf(const std::vector<watch::Event>& events) const {
    return events.size() + maker_.kept();
  }
  // Reads some changes of the cache's log.
  Result<ChangeLog::Cursor::Read> Read(std::size_t events_max, std::vector<watch::Event>& events,
                                       const Waker& waker);

  const Context ctx_;
  const std::shared_ptr<const StreamSource> source_;
  Start start_;
  EventMaker maker_;
  BookmarkTimes times_;
  BookmarkClock::Ticket ticket_;
  kv::Revision position_;                          // Everything up to this revision has been sent.
  std::unique_ptr<Tree::Iterator> next_of_state_;  // Used while the state is sent.
  std::unique_ptr<store::TailReader> engine_log_;
  std::unique_ptr<ChangeLog::Cursor> cursor_;  // Refers to the key of `start_`.
  std::shared_ptr<ChangeLog> log_;  // The log that the watch began with. Null: it is over.
};

}  // namespace apiserver::inline v0::storage::cacher
