#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "storage/errors.h"
#include "storage/kv/revision.h"
#include "storage/list_options.h"
#include "storage/store/object_store.h"
#include "storage/store/stored_value.h"
#include "storage/store/tail_stream.h"

namespace apiserver::v0::storage::store {
namespace {

// kube-apiserver sends bookmarks about once a minute.
constexpr std::chrono::seconds kBookmarkInterval{60};

// A watch over the engine: first the state, if it is wanted; then the changes of the engine's log.
class StoreStream final : public watch::Stream {
 public:
  struct Start {
    std::vector<runtime::ObjectPtr> state;
    bool announce_end = false;
    kv::Revision revision = 0;  // The revision of `state`, or the one that the watch begins after.
    bool bookmarks = false;
    std::optional<Clock::Monotonic> deadline;
  };
  StoreStream(Context ctx, const Options& options, WatchScope scope, Start start)
      : ctx_(std::move(ctx)),
        options_(options),
        scope_(std::move(scope)),
        start_(std::move(start)),
        maker_(*options_.kind, scope_.predicate.get()),
        times_(kBookmarkInterval, start_.deadline) {
    times_.Schedule(options_.clock->Now());
  }

  Status Follow() {
    ASSIGN_OR_RETURN(auto tail, options_.engine->NewTail(scope_.key, kv::After(start_.revision)));
    tail_ = std::make_unique<TailReader>(
        std::move(tail), *options_.kind, scope_,
        [this](std::string_view name, const kv::Bytes& stored, kv::Revision revision) {
          return DecodeStored(options_, name, stored, revision);
        });
    return {};
  }

  State Next(std::vector<watch::Event>& events, std::size_t events_max,
             const Waker& waker) override {
    const std::size_t end = events.size() + events_max;
    const Status error = NextOfState(events, end);
    if (!error.ok()) {
      events.push_back(NewErrorEvent(error));
      failed_ = true;
    }
    if (failed_) return State::kEnd;
    if (next_ < start_.state.size()) return State::kMore;
    if (start_.announce_end) {
      if (events.size() >= end) return State::kMore;
      start_.announce_end = false;
      events.push_back(NewBookmark(std::to_string(start_.revision), true));
    }
    const State state = tail_->Next(ctx_, events, end - events.size(), waker);
    // A bookmark is only sent when there is nothing else to send: events tell the revision
    // themselves.
    if (state == State::kWait) AppendBookmark(events);
    return state;
  }

 private:
  Status NextOfState(std::vector<watch::Event>& events, std::size_t end) {
    while (next_ < start_.state.size() && events.size() + maker_.kept() < end) {
      runtime::ObjectPtr object = std::move(start_.state[next_++]);
      const std::string version(object->resource_version());
      RETURN_IF_ERROR(maker_.Add(ctx_, {std::move(object), nullptr, version}, events));
    }
    return maker_.Flush(ctx_, events);
  }

  void AppendBookmark(std::vector<watch::Event>& events) {
    // Nothing has happened since the start, so the client knows this revision.
    if (!start_.bookmarks || tail_->complete_up_to() <= start_.revision) return;
    const Clock::Monotonic now = options_.clock->Now();
    if (now < times_.next()) return;
    events.push_back(NewBookmark(std::to_string(tail_->complete_up_to()), false));
    times_.Schedule(now);
  }

  const Context ctx_;
  const Options options_;
  const WatchScope scope_;
  Start start_;
  std::size_t next_ = 0;  // The next index in start_.state.
  bool failed_ = false;
  EventMaker maker_;
  BookmarkTimes times_;
  std::unique_ptr<TailReader> tail_;
};

}  // namespace

Result<std::unique_ptr<watch::Stream>> ObjectStore::Watch(const Context& ctx, std::string_view key,
                                                          const ListOptions& options) {
  ASSIGN_OR_RETURN(const std::string prepared, PrepareKey(options_.prefix, key, options.recursive));
  ASSIGN_OR_RETURN(const std::int64_t wanted, ParseReadVersion(options.resource_version));

  StoreStream::Start start;
  start.revision = wanted;
  start.bookmarks = options.allow_bookmarks;
  if (WantsInitialEvents(wanted, options)) {
    ListOptions all;
    // "0" asks for any state, and this store has only the newest; a given revision is the least
    // that the state may have.
    all.resource_version = wanted == 0 ? "" : options.resource_version;
    all.match = wanted == 0 ? meta::ResourceVersionMatch::kUnset
                            : meta::ResourceVersionMatch::kNotOlderThan;
    all.recursive = options.recursive;
    ASSIGN_OR_RETURN(runtime::List list, GetList(ctx, key, all));
    ASSIGN_OR_RETURN(start.revision, ParseReadVersion(list.resource_version));
    start.state = std::move(list.items);
    start.announce_end = WantsInitialEventsEnd(options);
  } else if (wanted == 0) {
    ASSIGN_OR_RETURN(start.revision, CurrentRevision(ctx));
  }

  start.deadline = options.deadline;
  auto stream = std::make_unique<StoreStream>(
      ctx, options_, WatchScope{prepared, options.recursive, Keep(options.predicate)},
      std::move(start));
  RETURN_IF_ERROR(stream->Follow());
  return std::unique_ptr<watch::Stream>(std::move(stream));
}

}  // namespace apiserver::v0::storage::store
