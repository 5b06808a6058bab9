#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/sync.h"
#include "apiserver/storage/stats.h"
#include "storage/cacher/entry.h"
#include "storage/store/object_store.h"

namespace apiserver::inline v0::storage::cacher {

// The objects as they were at every revision in [last_change, revision].
struct View {
  Tree tree;
  kv::Revision last_change = 0;
  kv::Revision revision = 0;

  bool ShowsRevision(kv::Revision at) const { return last_change <= at && at <= revision; }
};

// A state, and the changes that led to it.
struct Since {
  View view;  // The present state.
  // All changes after the revision asked for, oldest first. nullopt: some have been forgotten.
  std::optional<std::vector<ChangeRef>> changes;
};

// The objects below one prefix: the present state, the changes that led to it, and a log of them
// for watches. Fed by one thread at a time in revision order (Reset, Apply, Compact), read by any.
class Cache final : public store::Memory {
 public:
  struct Limits {
    std::size_t changes_max;
    // The age beyond which changes are forgotten, down to kChangesMin.
    std::chrono::nanoseconds window = std::chrono::seconds(75);
    // The share that superseded values are counted in. Null: they are not counted.
    std::shared_ptr<MemoryShare> history;
  };
  // `store` determines how values are decoded.
  Cache(store::Options store, Limits limits, const Clock& clock);
  ~Cache() override;

  // `tell` is called on the feed's thread with the revision up to which changes have been
  // forgotten; it must not block. Set it before anything is fed.
  void OnForget(std::function<void(kv::Revision)> tell) { on_forget_ = std::move(tell); }

  // `tell` is called on the feed's thread with the revision of the cache, once readers see it; it
  // must not block. Set it before anything is fed.
  void OnAdvance(std::function<void(kv::Revision)> tell) { on_advance_ = std::move(tell); }

  // --- For the feed. ---

  // Makes this the cache of an observer: it is ready from KeepUp() on, and its revision is then at
  // least `progress`'s, since commits of other prefixes do not come here. Call it before anything
  // is fed.
  void Observe(std::shared_ptr<const kv::Progress> progress) { progress_ = std::move(progress); }
  // Makes an entry of a state that is to be given to Reset().
  EntryRef NewEntry(const kv::KeyValue& kv) const;
  EntryRef NewEntry(const StoredState::Value& value) const;
  // Replaces everything by the state at `revision`; watches of the former state end.
  void Reset(Tree state, kv::Revision revision);
  // Everything up to `revision` has happened; `events` are those of this prefix.
  void Apply(std::span<const kv::Event* const> events, kv::Revision revision);
  // Everything delivered to the observer so far has been applied, and from now on events are
  // applied as they are delivered.
  void KeepUp();
  void Compact(kv::Revision compacted);
  // Ends all watches; the cache is empty and not ready from now on.
  void Close();

  // --- For readers. ---

  // False before Reset(), for an observer before KeepUp(), and after Close().
  bool ready() const { return ready_.load(); }
  std::optional<store::Memory::Known> Find(std::string_view key) const override;
  EntryRef FindEntry(std::string_view key) const;
  View Now() const;
  // Returns the state at `revision` if Keep() kept it or it is the present one.
  std::optional<View> Kept(kv::Revision revision) const;
  // Keeps `view` for the next pages of a list.
  void Keep(View view);
  // Returns the present state and the changes after `revision`.
  Since ChangesAfter(kv::Revision revision) const;
  // Returns the number of changes after `revision`; less work than collecting them.
  std::size_t CountAfter(kv::Revision revision) const;
  // Returns the figures of the state, without a lock: they may be from between two changes.
  // nullopt: not ready.
  std::optional<Stats> GetStats() const;
  kv::Revision revision() const { return std::max(revision_.load(), delivered()); }
  // Changes up to this revision can be read from log().
  kv::Revision published() const { return std::max(published_.load(), delivered()); }
  std::shared_ptr<ChangeLog> log() const { return state_.Lock()->log; }
  // Waits until `revision` has been seen. False: `deadline` or the end of `ctx` came first.
  bool WaitFor(const Context& ctx, kv::Revision revision, Clock::Monotonic deadline) const;

 private:
  static constexpr std::size_t kChangesMin = 1000;
  static constexpr std::size_t kKeptMax = 64;

  struct Past {
    ChangeRef change;
    Clock::Monotonic time;
    std::size_t bytes;  // The bytes that only this change keeps.
  };
  struct KeptView {
    View view;
    Clock::Monotonic time;
  };
  struct State {
    Tree tree;
    kv::Revision last_change = 0;
    std::shared_ptr<ChangeLog> log;
    std::deque<Past> past;      // The changes in the log.
    kv::Revision complete = 0;  // `past` holds all changes after this.
    std::deque<KeptView> kept;
  };

  // Returns the revision up to which the engine has delivered this prefix's events. Zero: it is not
  // observed.
  kv::Revision delivered() const { return keeps_up_.load() ? progress_->seen() : 0; }
  // Gives an entry with bytes its object.
  void Decode(Entry& entry) const;
  std::vector<ChangeRef> NewChanges(std::span<const kv::Event* const> events) const;
  // Puts the changes into the tree; drops those that change nothing.
  void Put(State& state, std::vector<ChangeRef>& changes, Clock::Monotonic now);
  // Moves the changes that need not be kept into `dropped`. Returns the revision below which the
  // log may forget. Zero: nothing was dropped.
  kv::Revision Forget(State& state, Clock::Monotonic now, std::vector<ChangeRef>& dropped);
  void ForgetAll(State& state);
  void Advance(kv::Revision revision);
  // Makes the threads in WaitFor() look again.
  void WakeWaiting() const;

  const store::Options store_;
  const Limits limits_;
  const Clock& clock_;
  std::shared_ptr<const kv::Progress> progress_;  // Null: nothing is observed.
  std::function<void(kv::Revision)> on_forget_;
  std::function<void(kv::Revision)> on_advance_;
  std::atomic<bool> ready_{false};
  std::atomic<bool> keeps_up_{false};
  // The figures of the tree; written under the lock.
  std::atomic<std::int64_t> objects_{0};
  std::atomic<std::int64_t> bytes_{0};
  // Set under the lock when this prefix has changes, else without: a reader that holds the lock
  // sees a tree that is complete up to the revision it reads. The same holds for the observer's
  // progress, which comes to a revision after its events were applied.
  std::atomic<kv::Revision> revision_{0};
  std::atomic<kv::Revision> published_{0};
  mutable std::atomic<int> waiting_{0};
  mutable Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::cacher
