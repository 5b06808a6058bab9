#include "buggy_storage.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <thread>
#include <utility>

#include "apiserver/base/sync.h"

namespace apiserver::inline v0::testing {
namespace {

namespace st = apiserver::storage;
using meta::ResourceVersionMatch;
using watch::EventType;

runtime::ObjectPtr WithRevision(const runtime::ObjectPtr& object, std::int64_t revision) {
  auto copy = object->Clone();
  copy->Edit("metadata", "resourceVersion") = std::to_string(revision);
  return runtime::ObjectPtr(std::move(copy));
}

std::int64_t RevisionOf(const runtime::ObjectPtr& object) {
  return std::stoll(std::string(object->resource_version()));
}

using Reopen = std::function<std::unique_ptr<watch::Stream>()>;

class BuggyStream final : public watch::Stream {
 public:
  BuggyStream(std::unique_ptr<watch::Stream> inner, Bug bug, bool selects, bool initial,
              Reopen reopen)
      : inner_(std::move(inner)),
        bug_(bug),
        selects_(selects),
        in_state_(initial),
        reopen_(std::move(reopen)) {}

  State Next(std::vector<watch::Event>& events, std::size_t max, const Waker& waker) override {
    if (bug_ == Bug::kHangs && seen_ > 30) return State::kWait;
    std::vector<watch::Event> mine;
    State state = inner_->Next(mine, max, waker);
    if (bug_ == Bug::kInitialEndsEarly && in_state_) MoveEndToTheFront(mine);
    if (bug_ == Bug::kSwapsEvents) Swap(mine);
    for (watch::Event& event : mine) {
      ++seen_;
      if (event.type == EventType::kError && bug_ == Bug::kCompactedSkips) {
        inner_ = reopen_();
        return State::kMore;
      }
      Pass(std::move(event), events);
    }
    return state;
  }

 private:
  static void MoveEndToTheFront(std::vector<watch::Event>& events) {
    const auto end = std::find_if(events.begin(), events.end(),
                                  [](const watch::Event& e) { return e.initial_events_end; });
    if (end != events.end()) std::rotate(events.begin(), end, end + 1);
  }
  static void Swap(std::vector<watch::Event>& events) {
    for (std::size_t i = 1; i < events.size(); ++i) {
      if (events[i - 1].object == nullptr || events[i].object == nullptr) continue;
      std::swap(events[i - 1], events[i]);
      return;
    }
  }

  void Pass(watch::Event event, std::vector<watch::Event>& events) {
    const bool change = event.object != nullptr && !in_state_;
    if (event.initial_events_end) in_state_ = false;
    switch (bug_) {
      case Bug::kSkipsEvent:
        if (change && ++changes_ % 20 == 0) return;
        break;
      case Bug::kRepeatsEvent:
        if (change && ++changes_ % 20 == 0) events.push_back(event);
        break;
      case Bug::kDropsDeletes:
        if (event.type == EventType::kDeleted) return;
        break;
      case Bug::kDeletedWithOldRevision:
        if (event.type == EventType::kDeleted) {
          event.resource_version = std::string(event.object->resource_version());
        }
        break;
      case Bug::kTransitionIsModified:
        if (selects_ && event.type == EventType::kDeleted) event.type = EventType::kModified;
        break;
      case Bug::kEarlyBookmark:
        ShiftBookmark(event, 3);
        break;
      case Bug::kBookmarkGoesBack:
        ShiftBookmark(event, -40);
        break;
      case Bug::kInitialMissesObject:
        if (in_state_ && event.type == EventType::kAdded && !std::exchange(missed_, true)) return;
        break;
      default:
        break;
    }
    events.push_back(std::move(event));
  }
  static void ShiftBookmark(watch::Event& event, std::int64_t by) {
    if (event.type != EventType::kBookmark || event.initial_events_end) return;
    const std::int64_t revision = std::stoll(event.resource_version);
    event.resource_version = std::to_string(std::max<std::int64_t>(revision + by, 1));
  }

  std::unique_ptr<watch::Stream> inner_;
  const Bug bug_;
  const bool selects_;
  bool in_state_;
  const Reopen reopen_;
  int seen_ = 0;
  int changes_ = 0;
  bool missed_ = false;
};

// Ends at once.
class ExpiredStream final : public watch::Stream {
 public:
  State Next(std::vector<watch::Event>& events, std::size_t, const Waker&) override {
    watch::Event event;
    event.type = EventType::kError;
    event.error = Status(Reason::kExpired, "too old");
    if (!std::exchange(told_, true)) events.push_back(std::move(event));
    return State::kEnd;
  }

 private:
  bool told_ = false;
};

class BuggyStorage final : public st::Interface {
 public:
  BuggyStorage(std::unique_ptr<st::Interface> inner, Bug bug)
      : inner_(std::move(inner)), bug_(bug) {}

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view key,
                                    const runtime::Object& object,
                                    std::chrono::seconds ttl) override {
    if (Due(Bug::kAcksWithoutWriting, 30) && !inner_->Get(ctx, key, {}).ok()) {
      return WithRevision(runtime::ObjectPtr(object.Clone()),
                          *inner_->CurrentResourceVersion(ctx) + 1);
    }
    auto created = inner_->Create(ctx, key, object, ttl);
    if (bug_ == Bug::kCreateOverwrites && created.status().reason() == Reason::kAlreadyExists) {
      return inner_->GuaranteedUpdate(ctx, key, {},
                                      [&](const runtime::ObjectPtr&) -> Result<st::Update> {
                                        st::Update update;
                                        update.object = object.Clone();
                                        return update;
                                      });
    }
    return created;
  }

  Result<runtime::ObjectPtr> Get(const Context& ctx, std::string_view key,
                                 const st::GetOptions& options) override {
    auto got = inner_->Get(ctx, key, options);
    const bool older = bug_ == Bug::kNotOlderGetIsOlder && options.resource_version.size() > 1;
    const bool stale = bug_ == Bug::kStaleGet && options.resource_version.empty();
    if ((!older && !stale) || !got.ok()) return got;
    auto known = objects_.Lock();
    auto& object = (*known)[std::string(key)];
    if (object == nullptr || Tick(4)) object = *got;
    return object;
  }

  Result<runtime::List> GetList(const Context& ctx, std::string_view key,
                                const st::ListOptions& options) override {
    st::ListOptions changed = options;
    std::string revision;
    const bool continues = !options.continue_token.empty();
    if (bug_ == Bug::kExactIsOffByOne && options.match == ResourceVersionMatch::kExact &&
        std::stoll(options.resource_version) > 2) {
      revision = options.resource_version;
      changed.resource_version = std::to_string(std::stoll(revision) - 1);
    }
    if (bug_ == Bug::kContinuesNow && continues) {
      auto token = *st::DecodeContinueToken(options.continue_token);
      revision = std::to_string(token.resource_version);
      token.resource_version = -1;
      changed.continue_token = st::EncodeContinueToken(token);
    }
    auto list = inner_->GetList(ctx, key, changed);
    if (!list.ok()) return list;
    if (!revision.empty()) list->resource_version = revision;
    if (bug_ == Bug::kPageSkips && continues && !list->items.empty()) {
      list->items.erase(list->items.begin());
    }
    if (bug_ == Bug::kPageRepeats && continues && !list->items.empty()) {
      list->items.insert(list->items.begin(), list->items.front());
    }
    const bool whole = key == "/" && options.predicate.empty() && options.limit == 0;
    if (whole) MakeStale(options, *list);
    return list;
  }

  Result<runtime::ObjectPtr> GuaranteedUpdate(const Context& ctx, std::string_view key,
                                              const st::UpdateOptions& options,
                                              const st::TryUpdate& try_update) override {
    st::UpdateOptions changed = Forget(options);
    if (bug_ == Bug::kLosesUpdate) return UpdateWithoutCompare(ctx, key, changed, try_update);
    runtime::ObjectPtr before;
    auto updated =
        inner_->GuaranteedUpdate(ctx, key, changed, [&](const runtime::ObjectPtr& current) {
          before = current;
          return try_update(current);
        });
    if (!updated.ok()) return updated;
    if (Due(Bug::kFailsButWrites, 30)) return Status(Reason::kConflict, "no");
    if (Due(Bug::kReusesRevision, 30)) return WithRevision(*updated, RevisionOf(*updated) - 1);
    if (bug_ == Bug::kNoOpWrites && before != nullptr &&
        before->resource_version() == (*updated)->resource_version()) {
      return inner_->GuaranteedUpdate(
          ctx, key, {}, [&](const runtime::ObjectPtr& current) -> Result<st::Update> {
            st::Update update;
            update.object = current->Clone();
            update.object->Edit("status", "phase") = std::to_string(++count_);
            return update;
          });
    }
    return updated;
  }

  Result<runtime::ObjectPtr> Delete(const Context& ctx, std::string_view key,
                                    const st::UpdateOptions& options,
                                    const st::ValidateDeletion& validate) override {
    return inner_->Delete(ctx, key, Forget(options), validate);
  }

  Result<std::unique_ptr<watch::Stream>> Watch(const Context& ctx, std::string_view key,
                                               const st::ListOptions& options) override {
    if (Due(Bug::kExpiresForNothing, 3)) {
      return std::unique_ptr<watch::Stream>(std::make_unique<ExpiredStream>());
    }
    const bool leaks = bug_ == Bug::kLeaksNamespace && options.recursive;
    const std::string path(leaks ? "/" : key);
    auto stream = inner_->Watch(ctx, path, options);
    if (!stream.ok()) return stream;
    st::ListOptions now = options;
    now.resource_version.clear();
    now.send_initial_events = false;
    return std::unique_ptr<watch::Stream>(std::make_unique<BuggyStream>(
        std::move(*stream), bug_, !options.predicate.empty(),
        options.send_initial_events.value_or(false),
        [this, path, now] { return std::move(*inner_->Watch(Context::Background(), path, now)); }));
  }

  Result<std::size_t> Count(const Context& ctx, std::string_view key) override {
    return inner_->Count(ctx, key);
  }
  Result<std::int64_t> CurrentResourceVersion(const Context& ctx) override {
    return inner_->CurrentResourceVersion(ctx);
  }
  Status Ready() const override { return inner_->Ready(); }
  bool AnswersInline() const override { return false; }
  void Stop() override { inner_->Stop(); }

 private:
  bool Tick(int every) { return ++count_ % every == 0; }
  // Whether this is the bug, and it is its turn.
  bool Due(Bug bug, int every) { return bug_ == bug && Tick(every); }

  st::UpdateOptions Forget(st::UpdateOptions options) const {
    if (bug_ == Bug::kIgnoresUid) options.preconditions.uid.reset();
    if (bug_ == Bug::kIgnoresRevision) options.preconditions.resource_version.reset();
    return options;
  }

  void MakeStale(const st::ListOptions& options, runtime::List& list) {
    const bool consistent = options.resource_version.empty() && options.continue_token.empty();
    if (bug_ == Bug::kListDropsLast && !list.items.empty()) list.items.pop_back();
    auto last = last_.Lock();
    if (bug_ == Bug::kStaleList && consistent) {
      if (!last->resource_version.empty() && !Tick(4)) list = *last;
      *last = list;
    }
    if (bug_ == Bug::kNotOlderListIsOlder && options.match == ResourceVersionMatch::kNotOlderThan) {
      if (last->resource_version.empty()) *last = list;
      list = *last;
    }
    if (bug_ == Bug::kTornList && consistent) {
      const runtime::List whole = list;
      for (auto& item : list.items) {
        for (const auto& old : last->items) {
          if (old->name() == item->name()) item = old;
        }
      }
      *last = whole;
    }
  }

  Result<runtime::ObjectPtr> UpdateWithoutCompare(const Context& ctx, std::string_view key,
                                                  const st::UpdateOptions& options,
                                                  const st::TryUpdate& try_update) {
    const auto before = inner_->Get(ctx, key, {});
    if (!before.ok()) return before;
    auto wanted = try_update(*before);
    if (!wanted.ok()) return wanted.status();
    if ((*wanted->object)["spec"]["size"].AsInt() == (**before)["spec"]["size"].AsInt()) {
      return inner_->GuaranteedUpdate(ctx, key, options, try_update);
    }
    std::this_thread::yield();
    return inner_->GuaranteedUpdate(ctx, key, options,
                                    [&](const runtime::ObjectPtr& now) -> Result<st::Update> {
                                      st::Update update;
                                      update.object = wanted->object->Clone();
                                      update.object->Edit("metadata", "uid") = now->uid();
                                      return update;
                                    });
  }

  std::unique_ptr<st::Interface> inner_;
  const Bug bug_;
  std::atomic<int> count_{0};
  Guarded<std::map<std::string, runtime::ObjectPtr>> objects_;
  Guarded<runtime::List> last_;
};

}  // namespace

storage::StorageHost WithBug(storage::StorageHost host, Bug bug) {
  const auto open = host.open_storage;
  host.open_storage =
      [open, bug](const storage::StorageSetup& setup) -> Result<std::unique_ptr<st::Interface>> {
    auto inner = open(setup);
    if (!inner.ok()) return inner.status();
    return std::unique_ptr<st::Interface>(std::make_unique<BuggyStorage>(std::move(*inner), bug));
  };
  return host;
}

}  // namespace apiserver::inline v0::testing
