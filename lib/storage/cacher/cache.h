#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/sync.h"
#include "apiserver/runtime/object.h"
#include "apiserver/storage/kv/engine.h"
#include "storage/index/btree.h"
#include "storage/index/event_log.h"
#include "storage/index/ref.h"
#include "storage/store/object_store.h"

namespace apiserver::inline v0::storage::cacher {

// An object under its key at one revision. Shared by trees, log and whoever reads.
struct Entry : index::RefCounted {
  std::string key;
  kv::Bytes bytes;
  kv::Revision revision = 0;
  kv::LeaseId lease = 0;
  runtime::ObjectPtr object;
};
using EntryRef = index::Ref<const Entry>;

struct KeyOfEntry {
  std::string_view operator()(const EntryRef& entry) const { return entry->key; }
};
using Tree = index::BTree<EntryRef, KeyOfEntry>;

// One change, made once for all who watch.
struct Change : index::RefCounted {
  kv::Revision revision = 0;
  std::string version;  // The revision as text.
  EntryRef now;         // Null: deleted.
  EntryRef before;      // Null: created.

  const std::string& key() const { return now ? now->key : before->key; }
};
using ChangeRef = index::Ref<const Change>;

struct ChangeAccess {
  static std::int64_t Revision(const ChangeRef& change) { return change->revision; }
  static std::string_view Key(const ChangeRef& change) { return change->key(); }
};
using ChangeLog = index::EventLog<ChangeRef, ChangeAccess>;

// All objects as they were at every revision in [last_change, revision].
struct View {
  Tree tree;
  kv::Revision last_change = 0;
  kv::Revision revision = 0;

  bool ShowsRevision(kv::Revision at) const { return last_change <= at && at <= revision; }
};

// What is known of the objects below one prefix: the state now, some states of the past, and a log.
// Fed by one thread at a time in revision order (Reset, Apply, Compact), read by any.
class Cache final : public store::Memory {
 public:
  struct Limits {
    std::size_t changes_max;
    // Older changes are forgotten, down to kChangesMin.
    std::chrono::nanoseconds window = std::chrono::seconds(75);
  };
  Cache(runtime::KindPtr kind, std::string prefix, Limits limits, const Clock& clock);

  // --- For the feed. ---

  // Begins anew with the state at `revision`; watches of what was there before end.
  void Reset(const std::vector<kv::KeyValue>& state, kv::Revision revision);
  // Everything up to `revision` has happened, `events` among it; of other prefixes too.
  void Apply(const std::vector<kv::Event>& events, kv::Revision revision);
  void Compact(kv::Revision compacted);
  // Ends all watches; nothing is known from now on.
  void Close();

  // --- For readers. ---

  // False before Reset() and after Close().
  bool ready() const { return ready_.load(); }
  std::optional<store::Memory::Known> Find(std::string_view key) const override;
  EntryRef FindEntry(std::string_view key) const;
  View Now() const;
  // The state at an older revision, if it is still known.
  std::optional<View> At(kv::Revision revision) const;
  // Keeps `view` for the next pages of a list.
  void Keep(View view);
  kv::Revision revision() const { return revision_.load(); }
  // Changes up to here can be read from log().
  kv::Revision published() const { return published_.load(); }
  std::shared_ptr<ChangeLog> log() const { return state_.Lock()->log; }
  // Waits until `revision` has been seen; false when `deadline` or the end of `ctx` comes first.
  bool WaitFor(const Context& ctx, kv::Revision revision, Clock::Monotonic deadline) const;

 private:
  static constexpr std::size_t kChangesMin = 1000;
  static constexpr std::size_t kKeptMax = 64;

  struct Mark {
    kv::Revision revision;
    Clock::Monotonic time;
  };
  struct Kept {
    View view;
    Clock::Monotonic time;
  };
  struct State {
    Tree tree;
    kv::Revision last_change = 0;
    std::shared_ptr<ChangeLog> log;
    std::deque<Mark> marks;  // Of the changes in the log.
    std::deque<Kept> kept;
  };

  EntryRef NewEntry(const kv::KeyValue& kv) const;
  void Advance(kv::Revision revision);
  // The revision below which the log may forget; zero: it is short enough.
  kv::Revision ForgetBelow(State& state, Clock::Monotonic now) const;

  const runtime::KindPtr kind_;
  const std::string prefix_;
  const Limits limits_;
  const Clock& clock_;
  std::atomic<bool> ready_{false};
  // Set under the lock when there are changes of ours, else without: whoever holds the lock sees a
  // tree that is complete up to the revision it reads.
  std::atomic<kv::Revision> revision_{0};
  std::atomic<kv::Revision> published_{0};
  mutable std::atomic<int> waiting_{0};
  mutable Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::cacher
