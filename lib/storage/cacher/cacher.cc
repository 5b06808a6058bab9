#include "apiserver/storage/cacher/cacher.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "apiserver/meta/errors.h"
#include "apiserver/request/latency.h"
#include "base/status_macros.h"
#include "storage/cacher/cache_stream.h"
#include "storage/cacher/feed.h"
#include "storage/cacher/fresh_waiters.h"
#include "storage/cacher/past_state.h"
#include "storage/cacher/selector_index.h"
#include "storage/corrupt_objects.h"
#include "storage/errors.h"
#include "storage/in_span.h"
#include "storage/list_options.h"
#include "storage/look_into.h"

namespace apiserver::v0::storage::cacher {
namespace {

// Limits the objects matched between two checks of the context.
constexpr std::size_t kObjectsPerCheck = 4096;
// Limits the objects matched on an I/O loop, where nothing may wait.
constexpr std::size_t kObjectsOnLoop = 2048;
// The objects that are converted in one call to be matched.
constexpr std::size_t kConvertedAtOnce = 500;
// The interval at which a waiting read asks a followed engine for its progress.
constexpr std::chrono::milliseconds kAskAgain{100};
constexpr int kRetryAfterSeconds = 1;

Cache::Limits LimitsOf(const Options& options) {
  Cache::Limits limits{options.history_events_max};
  limits.window = options.history_window;
  if (options.memory != nullptr) {
    limits.history = std::shared_ptr<MemoryShare>(options.memory, &options.memory->history);
  }
  return limits;
}

// Objects that updates have written are kept for the next ones, beside encodings for the next
// answers.
std::shared_ptr<EvictingShare> WrittenShareOf(const Options& options) {
  if (options.memory == nullptr) return nullptr;
  return std::shared_ptr<EvictingShare>(options.memory, &options.memory->encodings);
}

// Either all entries of a state, or those of it that may match.
struct ListSource {
  View view;
  std::optional<std::vector<EntryRef>> candidates;
  bool exact = false;  // True if all candidates match.
};

// A list that accepts any state is answered whole, as Go's cache does.
bool IsPaged(const ListOptions& options) {
  return options.recursive && options.limit > 0 && options.resource_version != "0";
}

class Cacher final : public Interface {
 public:
  explicit Cacher(Options options)
      : options_(std::move(options)),
        cache_(std::make_shared<Cache>(options_.store, LimitsOf(options_), *options_.store.clock)),
        index_(std::make_shared<SelectorIndex>(cache_)),
        store_(store::NewObjectStore(options_.store, cache_.get(), WrittenShareOf(options_))),
        feed_(std::make_shared<Feed>(
            Feed::Options{options_.store.engine, options_.executor, options_.store.prefix + "/",
                          options_.store.clock, options_.log, options_.progress,
                          std::exchange(options_.predecessor, nullptr)},
            cache_)),
        bookmarks_(std::make_shared<BookmarkClock>(options_.executor, *options_.store.clock)),
        stream_source_(std::make_shared<const StreamSource>(
            StreamSource{cache_, bookmarks_, options_.store.engine, options_.store,
                         options_.store.clock, options_.on_slow_watch})),
        fresh_(std::make_shared<FreshWaiters>(cache_, options_.executor, [feed = feed_] {
          feed->AskForProgress(Context::Background());
        })) {
    cache_->OnAdvance([weak = std::weak_ptr(fresh_)](kv::Revision revision) {
      if (const auto fresh = weak.lock()) fresh->Advance(revision);
    });
    cache_->OnForget([weak = std::weak_ptr(index_)](kv::Revision revision) {
      if (const auto index = weak.lock()) index->Forget(revision);
    });
    feed_->Start();
  }
  ~Cacher() override { Stop(); }

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view key,
                                    const runtime::Object& object,
                                    std::chrono::seconds ttl) override {
    auto created = store_->Create(ctx, key, object, ttl);
    if (!created.ok()) CatchUp(ctx);
    return created;
  }
  void CreateAsync(const Context& ctx, std::string_view key, const runtime::Object& object,
                   CreateDone done) override {
    store_->CreateAsyncSeen(ctx, key, object,
                            [fresh = fresh_, observes = feed_->observes(),
                             wait = options_.fresh_wait, done = std::move(done)](
                                Result<runtime::ObjectPtr> created, kv::Revision taken_at) mutable {
                              // An engine on another machine is asked for its revision by the next
                              // read.
                              if (taken_at == 0 || !observes) return done(std::move(created));
                              // The key is taken, also if the wait has failed.
                              fresh->Add(
                                  taken_at,
                                  [created = std::move(created), done = std::move(done)](
                                      const Status&) mutable { done(std::move(created)); },
                                  wait);
                            });
  }
  Result<runtime::ObjectPtr> GuaranteedUpdate(const Context& ctx, std::string_view key,
                                              const UpdateOptions& options,
                                              const TryUpdate& try_update) override {
    auto updated = store_->GuaranteedUpdate(ctx, key, options, try_update);
    CatchUp(ctx);
    return updated;
  }
  // A write is delivered to the cache before it is acknowledged, so only what has been read from
  // the engine may be ahead of the cache.
  void GuaranteedUpdateAsync(const Context& ctx, std::string_view key, const UpdateOptions& options,
                             TryUpdate try_update, UpdateDone done) override {
    store_->GuaranteedUpdateAsync(
        ctx, key, options, std::move(try_update),
        [this, ctx, done = std::move(done)](UpdateOutcome outcome) mutable {
          if (outcome.unchanged) CatchUp(ctx);
          if (outcome.object == nullptr) {
            outcome.rest = [this, rest = std::move(outcome.rest)](const Context& here) mutable {
              auto updated = rest(here);
              CatchUp(here);
              return updated;
            };
          }
          done(std::move(outcome));
        });
  }
  Result<runtime::ObjectPtr> Delete(const Context& ctx, std::string_view key,
                                    const UpdateOptions& options,
                                    const ValidateDeletion& validate) override {
    auto deleted = store_->Delete(ctx, key, options, validate);
    CatchUp(ctx);
    return deleted;
  }

  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view key,
                                 const GetOptions& options) override {
    return InSpan(ctx, "cacher.Get", {*options_.store.kind, key},
                  [&](const Context& traced) { return Read(traced, key, options); });
  }
  Result<runtime::List> GetList(const Context& ctx, std::string_view key,
                                const ListOptions& options) override {
    return InSpan(ctx, "cacher.GetList", {*options_.store.kind, key},
                  [&](const Context& traced) { return ReadList(traced, key, options); });
  }
  void WhenFresh(const Context& ctx, FreshDone done) override;
  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, std::string_view key,
                                               const ListOptions& options) override {
    return InSpan(ctx, "cacher.Watch", {*options_.store.kind, key},
                  [&](const Context& traced) { return Open(traced, key, options); });
  }
  Result<std::size_t> Count(const Context& ctx, std::string_view key) override;
  Result<std::int64_t> CurrentResourceVersion(const Context& ctx) override {
    if (feed_->observes() && cache_->ready()) return cache_->revision();
    return store_->CurrentResourceVersion(ctx);
  }
  Status Ready() const override {
    RETURN_IF_ERROR(store_->Ready());
    if (cache_->ready()) return {};
    return Status(Reason::kServiceUnavailable, feed_->warm_up().ToString());
  }
  std::optional<Stats> GetStats() const override { return cache_->GetStats(); }
  std::optional<StoredState> StateInMemory(const Context& ctx) const override;
  bool AnswersInline() const override { return true; }
  void Stop() override {
    feed_->Stop();
    fresh_->Stop();
    bookmarks_->Stop();
    store_->Stop();
  }

 private:
  // The work of Get, GetList and Watch, inside of their spans.
  Result<runtime::ObjectPtr> Read(const Context& ctx, std::string_view key,
                                  const GetOptions& options);
  Result<runtime::List> ReadList(const Context& ctx, std::string_view key,
                                 const ListOptions& options);
  Result<std::unique_ptr<watch::Stream>> Open(const Context& ctx, std::string_view key,
                                              const ListOptions& options);
  // Returns OK when the cache can answer. Waits while it is loaded for the first time. kWouldBlock:
  // it might be ready soon. kTooManyRequests: the client should retry.
  Status WaitReady(const Context& ctx) const;
  // Waits until the cache is as fresh as `resource_version` asks for. kTimeout: it is not in time.
  Status WaitFresh(const Context& ctx, std::string_view resource_version) const;
  // Asks the engine and counts the time as the request's time in storage.
  Result<kv::Revision> CurrentRevision(const Context& ctx) const {
    const request::LatencyTimer timer(ctx, request::Layer::kStorage, *options_.store.clock);
    return options_.store.engine->CurrentRevision(ctx);
  }
  // Waits for the engine's revision: its state is a moment ahead of its observers, and a client
  // that was answered from it must not find less in the cache.
  void CatchUp(const Context& ctx) const {
    if (!feed_->observes() || !cache_->ready() || !ctx.may_block()) return;
    const auto revision = CurrentRevision(ctx);
    if (!revision.ok()) return;
    (void)cache_->WaitFor(ctx, *revision, RealClock().Now() + options_.fresh_wait);
  }
  // Waits until the cache holds every write acknowledged before now.
  Status WaitConsistent(const Context& ctx) const;
  Status WaitForList(const Context& ctx, const ListOptions& options);
  // Returns the entries to make a list of. nullopt: only the engine has that state.
  Result<std::optional<ListSource>> SourceFor(const Context& ctx, std::string_view prefix,
                                              const ListOptions& options, const ListStart& start);
  // Leaves the matching entries in `source`, up to one more than the list can take. A kind whose
  // objects are converted together is converted some objects at a time.
  Status SelectTogether(const Context& ctx, std::string_view prefix, const ListOptions& options,
                        const ListStart& start, ListSource& source) const;
  Result<runtime::List> ListOf(const Context& ctx, std::string_view prefix,
                               const ListOptions& options, const ListStart& start,
                               ListSource source);

  Options options_;  // Constant once this is made.
  const std::shared_ptr<Cache> cache_;
  const std::shared_ptr<SelectorIndex> index_;
  const std::unique_ptr<store::ObjectStore> store_;
  const std::shared_ptr<Feed> feed_;
  const std::shared_ptr<BookmarkClock> bookmarks_;
  const std::shared_ptr<const StreamSource> stream_source_;
  const std::shared_ptr<FreshWaiters> fresh_;
};

Status Cacher::WaitReady(const Context& ctx) const {
  if (cache_->ready()) return {};
  if (!ctx.may_block()) return Status(Reason::kWouldBlock, "storage not ready");
  // A thread can only wait by the machine's clock.
  if (feed_->WaitReady(ctx, RealClock().Now() + options_.fresh_wait)) return {};
  std::string text = "storage is (re)initializing";
  const Status failure = feed_->warm_up().failure;
  if (!failure.ok()) text.append(": ").append(failure.message());
  return meta::NewTooManyRequests(std::move(text), feed_->RetryAfterSeconds());
}

Status Cacher::WaitFresh(const Context& ctx, std::string_view resource_version) const {
  if (resource_version.empty()) return WaitConsistent(ctx);
  ASSIGN_OR_RETURN(const std::int64_t revision, ParseReadVersion(resource_version));
  if (cache_->revision() >= revision) return {};
  if (!ctx.may_block()) return Status(Reason::kWouldBlock, "waiting for a revision");
  // A thread can only wait by the machine's clock.
  const Clock::Monotonic last = RealClock().Now() + options_.fresh_wait;
  const Clock::Monotonic deadline = std::min(last, ctx.deadline().value_or(last));
  while (!ctx.done()) {
    // An observed engine delivers by itself; one on another machine must be asked for its progress.
    if (!feed_->observes()) feed_->AskForProgress(ctx);
    const Clock::Monotonic now = RealClock().Now();
    if (cache_->WaitFor(ctx, revision, std::min(deadline, now + kAskAgain))) return {};
    if (now + kAskAgain >= deadline) break;
  }
  return meta::NewTooLargeResourceVersion(static_cast<std::uint64_t>(revision),
                                          static_cast<std::uint64_t>(cache_->revision()),
                                          kRetryAfterSeconds);
}

Status Cacher::WaitConsistent(const Context& ctx) const {
  if (feed_->observes()) return {};
  ASSIGN_OR_RETURN(const kv::Revision revision, CurrentRevision(ctx));
  return WaitFresh(ctx, std::to_string(revision));
}

std::optional<StoredState> Cacher::StateInMemory(const Context& ctx) const {
  if (!cache_->ready()) return std::nullopt;
  const auto revision = CurrentRevision(ctx);
  if (!revision.ok() || !WaitFresh(ctx, std::to_string(*revision)).ok()) return std::nullopt;
  const View view = cache_->Now();
  StoredState state;
  state.revision = view.revision;
  state.values.reserve(view.tree.size());
  for (auto next = view.tree.Begin(); next.Valid(); next.Next()) {
    const Entry& entry = *next.value();
    // An entry that could not be read is read anew from the engine's bytes.
    if (!entry.unusable.ok()) return std::nullopt;
    state.values.push_back({std::string(entry.key()), entry.bytes, entry.revision, entry.lease});
  }
  return state;
}

void Cacher::WhenFresh(const Context& ctx, FreshDone done) {
  if (feed_->observes() || !cache_->ready()) {
    return done(Status(Reason::kWouldBlock, "the watch cache waits for nothing"));
  }
  const Clock& clock = *options_.store.clock;
  options_.store.engine->CurrentRevisionAsync(
      ctx, [fresh = fresh_, ctx, &clock, began = clock.Now(),
            done = std::move(done)](Result<kv::Revision> revision) mutable {
        request::TrackLatency(ctx, request::Layer::kStorage, clock.Now() - began);
        // A thread has more time, and then the engine can answer.
        const auto told = [](const Status& error) {
          return error.reason() == Reason::kTimeout
                     ? Status(Reason::kWouldBlock, std::string(error.message()))
                     : error;
        };
        if (!revision.ok()) return done(told(revision.status()));
        fresh->Add(*revision,
                   [at = *revision, told, done = std::move(done)](const Status& late) mutable {
                     if (!late.ok()) return done(told(late));
                     done(at);
                   });
      });
}

Result<runtime::ObjectPtr> Cacher::Read(const Context& ctx, std::string_view key,
                                        const GetOptions& options) {
  if (!cache_->ready()) return store_->Get(ctx, key, options);
  ASSIGN_OR_RETURN(const std::string prepared, PrepareKey(options_.store.prefix, key, false));
  const Status fresh = WaitFresh(ctx, options.resource_version);
  if (!fresh.ok()) {
    const bool late = fresh.reason() == Reason::kTimeout && options.resource_version.empty();
    return late ? store_->Get(ctx, key, options) : fresh;
  }
  const EntryRef entry = cache_->FindEntry(prepared);
  if (entry && !entry->unusable.ok()) return NewCorruptObject(prepared, entry->unusable);
  if (entry) return entry->object;
  if (options.ignore_not_found) return runtime::ObjectPtr();
  return NewKeyNotFound(prepared);
}

Status Cacher::WaitForList(const Context& ctx, const ListOptions& options) {
  const bool consistent = options.resource_version.empty() || !options.continue_token.empty();
  return WaitFresh(ctx, consistent ? "" : options.resource_version);
}

Result<std::optional<ListSource>> Cacher::SourceFor(const Context& ctx, std::string_view prefix,
                                                    const ListOptions& options,
                                                    const ListStart& start) {
  if (options.recursive && !options.predicate.empty()) {
    ASSIGN_OR_RETURN(auto found,
                     index_->Find({options.predicate, prefix, start.key, start.revision, ctx}));
    if (found) {
      return std::optional(
          ListSource{std::move(found->view), std::move(found->entries), found->exact});
    }
  }
  if (start.revision > 0) {
    ASSIGN_OR_RETURN(auto view, StateAt(*cache_, start.revision, ctx.may_block()));
    if (!view) return std::optional<ListSource>();
    return std::optional(ListSource{std::move(*view), std::nullopt});
  }
  return std::optional(ListSource{cache_->Now(), std::nullopt});
}

Status Cacher::SelectTogether(const Context& ctx, std::string_view prefix,
                              const ListOptions& options, const ListStart& start,
                              ListSource& source) const {
  const SelectionPredicate& predicate = options.predicate;
  std::vector<EntryRef> left;
  if (source.candidates) {
    left = std::move(*source.candidates);
  } else {
    for (auto next = source.view.tree.LowerBound(start.key); next.Valid(); next.Next()) {
      if (!next.value()->key().starts_with(prefix)) break;
      left.push_back(next.value());
    }
  }
  const std::size_t enough = IsPaged(options) ? static_cast<std::size_t>(options.limit) + 1
                                              : std::numeric_limits<std::size_t>::max();
  auto& found = source.candidates.emplace();
  source.exact = true;
  for (std::size_t first = 0; first < left.size() && found.size() < enough;) {
    RETURN_IF_ERROR(ctx.Err(*options_.store.clock));
    const std::size_t end = std::min(left.size(), first + kConvertedAtOnce);
    std::vector<runtime::ObjectPtr> objects;
    for (std::size_t i = first; i < end; ++i) objects.push_back(left[i]->object);
    ASSIGN_OR_RETURN(const auto matches, MatchAll(ctx, predicate, objects));
    for (std::size_t i = 0; first < end; ++i, ++first) {
      if (matches[i] || !left[first]->unusable.ok()) found.push_back(left[first]);
    }
  }
  return {};
}

Result<runtime::List> Cacher::ListOf(const Context& ctx, std::string_view prefix,
                                     const ListOptions& options, const ListStart& start,
                                     ListSource source) {
  runtime::List list;
  const kv::Revision revision = start.revision > 0 ? start.revision : source.view.revision;
  list.resource_version = std::to_string(revision);
  const bool paged = IsPaged(options);
  const std::size_t count = source.candidates
                                ? source.candidates->size()
                                : source.view.tree.Count(start.key, kv::PrefixEnd(prefix));
  const bool all = source.exact || options.predicate.empty();
  if (!ctx.may_block() && !all && count > kObjectsOnLoop) {
    return Status(Reason::kWouldBlock, "looking into many objects");
  }
  if (options.predicate.empty()) {
    list.items.reserve(paged ? std::min(count, static_cast<std::size_t>(options.limit)) : count);
  }
  std::string_view last_key;
  std::size_t seen = 0;
  Status status;
  CorruptObjects corrupt;
  // Takes one entry. False: the list is complete, cut or refused.
  const auto take = [&](const EntryRef& ref) {
    const Entry& entry = *ref;
    if (!entry.key().starts_with(prefix) || (!options.recursive && entry.key() != prefix))
      return false;
    if (paged && std::cmp_greater_equal(list.items.size(), options.limit)) {
      CutList({last_key, prefix, revision, count}, options, list);
      return false;
    }
    if (++seen % kObjectsPerCheck == 0 && ctx.done()) {
      status = NewStorageTimeout(prefix, "request did not complete within requested timeout");
      return false;
    }
    last_key = entry.key();
    if (!entry.unusable.ok()) return corrupt.Add(entry.key(), entry.unusable);
    if (!all) {
      const auto matches = MatchesOne(ctx, options.predicate, entry.object);
      status = matches.status();
      if (!status.ok() || !*matches) return status.ok();
    }
    list.items.push_back(entry.object);
    return true;
  };
  if (source.candidates) {
    for (const EntryRef& entry : *source.candidates) {
      if (!take(entry)) break;
    }
  } else {
    for (auto next = source.view.tree.LowerBound(start.key); next.Valid() && take(next.value());) {
      next.Next();
    }
  }
  RETURN_IF_ERROR(status);
  const runtime::Kind& kind = *options_.store.kind;
  RETURN_IF_ERROR(corrupt.Outcome({kind.group(), kind.plural()}));
  if (!list.continue_token.empty() && !source.candidates) cache_->Keep(std::move(source.view));
  return list;
}

// The engine knows at once that a revision is still to come. Go's cache waits for it in vain and
// then tells the client when to retry; the same advice holds here.
Status TryAgainIfTooLarge(const Status& error) {
  if (!meta::HasCause(error, "ResourceVersionTooLarge")) return error;
  StatusDetails details = *error.details();
  details.retry_after_seconds = kRetryAfterSeconds;
  return error.WithDetails(std::move(details));
}

Result<runtime::List> Cacher::ReadList(const Context& ctx, std::string_view key,
                                       const ListOptions& options) {
  ASSIGN_OR_RETURN(const std::string prefix,
                   PrepareKey(options_.store.prefix, key, options.recursive));
  ASSIGN_OR_RETURN(const ListStart start, StartOfList(prefix, options));
  // Only small reads are passed to the engine; the others would be too much for it while the cache
  // loads.
  const bool page = options.limit > 0 && options.predicate.empty();
  if (page && !cache_->ready()) return store_->GetList(ctx, key, options);
  RETURN_IF_ERROR(WaitReady(ctx));
  // A revision that the engine has compacted has expired, even if memory still has it.
  if (start.revision > 0 && start.revision < options_.store.engine->CompactedRevision()) {
    return store_->GetList(ctx, key, options);
  }
  if (start.revision == 0) {
    const Status fresh = WaitForList(ctx, options);
    const bool consistent = options.resource_version.empty() || !options.continue_token.empty();
    // The cache was not in time, so the engine answers.
    if (fresh.reason() == Reason::kTimeout && consistent) return store_->GetList(ctx, key, options);
    RETURN_IF_ERROR(fresh);
  }
  ASSIGN_OR_RETURN(auto source, SourceFor(ctx, prefix, options, start));
  if (source && LooksTogether(*options_.store.kind, options.predicate)) {
    RETURN_IF_ERROR(SelectTogether(ctx, prefix, options, start, *source));
  }
  if (source) return ListOf(ctx, prefix, options, start, std::move(*source));
  auto list = store_->GetList(ctx, key, options);
  if (!list.ok()) return TryAgainIfTooLarge(list.status());
  return list;
}

Result<std::unique_ptr<watch::Stream>> Cacher::Open(const Context& ctx, std::string_view key,
                                                    const ListOptions& options) {
  ASSIGN_OR_RETURN(const std::string prepared,
                   PrepareKey(options_.store.prefix, key, options.recursive));
  ASSIGN_OR_RETURN(const std::int64_t wanted, ParseReadVersion(options.resource_version));
  RETURN_IF_ERROR(WaitReady(ctx));

  CacheStream::Start start;
  start.scope = {prepared, options.recursive, Keep(options.predicate)};
  start.bookmarks = options.allow_bookmarks;
  start.after = wanted;
  const bool initial = WantsInitialEvents(wanted, options);
  if (initial || wanted == 0) {
    // "0" takes the present state; "" is consistent when the state is asked for.
    const bool any = options.resource_version == "0" || !initial;
    if (!any) RETURN_IF_ERROR(WaitFresh(ctx, options.resource_version));
    View view = cache_->Now();
    start.after = view.revision;
    if (initial) start.state = std::make_unique<View>(std::move(view));
    start.announce_end = WantsInitialEventsEnd(options);
  }
  return std::make_unique<CacheStream>(ctx, stream_source_, std::move(start),
                                       BookmarkTimes(options_.bookmark_interval, options.deadline));
}

Result<std::size_t> Cacher::Count(const Context& ctx, std::string_view key) {
  if (!cache_->ready() || !feed_->observes()) return store_->Count(ctx, key);
  ASSIGN_OR_RETURN(const std::string prepared, PrepareKey(options_.store.prefix, key, true));
  const View view = cache_->Now();
  return view.tree.Count(prepared, kv::PrefixEnd(prepared));
}

}  // namespace

std::unique_ptr<Interface> New(Options options) {
  return std::make_unique<Cacher>(std::move(options));
}

}  // namespace apiserver::v0::storage::cacher
