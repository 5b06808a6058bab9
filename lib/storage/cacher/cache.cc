#include "storage/cacher/cache.h"

#include <algorithm>
#include <utility>

#include "apiserver/codec/codec.h"
#include "storage/corrupt_objects.h"
#include "storage/store/stored_value.h"

namespace apiserver::v0::storage::cacher {
namespace {

// The bytes of a change beside the value it supersedes: itself, its places in tree and log.
constexpr std::size_t kChangeBytes = 160;
// The bytes of an entry beside its value.
constexpr std::size_t kEntryBytes = 480;

std::size_t BytesOf(const Entry& entry) {
  return kEntryBytes + entry.key().size() + (entry.bytes != nullptr ? entry.bytes->size() : 0);
}

// Returns the size of an object's encoding.
std::int64_t EncodedBytes(const EntryRef& entry) {
  return entry && entry->bytes != nullptr ? static_cast<std::int64_t>(entry->bytes->size()) : 0;
}

std::int64_t EncodedBytes(const Tree& tree) {
  std::int64_t bytes = 0;
  for (auto next = tree.Begin(); next.Valid(); next.Next()) {
    bytes += EncodedBytes(next.value());
  }
  return bytes;
}

// Returns the first of `past` that is newer than `revision`.
template <class Deque>
auto FirstAfter(const Deque& past, kv::Revision revision) {
  return std::partition_point(past.begin(), past.end(), [revision](const auto& one) {
    return one.change->revision <= revision;
  });
}

}  // namespace

Cache::Cache(store::Options store, Limits limits, const Clock& clock)
    : store_(std::move(store)), limits_(std::move(limits)), clock_(clock) {
  state_.Lock()->log = ChangeLog::New(0, 1);
}

Cache::~Cache() { ForgetAll(*state_.Lock()); }

EntryRef Cache::NewEntry(const kv::KeyValue& kv) const {
  auto* entry = Entry::New(kv.key);
  EntryRef owner(entry);
  entry->revision = kv.mod_revision;
  entry->lease = kv.lease;
  auto opened = store::Open(store_, kv.key, kv.value);
  entry->unusable = opened.status();
  if (opened.ok()) entry->bytes = std::move(opened->plain);
  Decode(*entry);
  return owner;
}

EntryRef Cache::NewEntry(const StoredState::Value& value) const {
  auto* entry = Entry::New(value.key);
  EntryRef owner(entry);
  entry->bytes = value.bytes;
  entry->revision = value.revision;
  entry->lease = value.lease;
  Decode(*entry);
  return owner;
}

void Cache::Decode(Entry& entry) const {
  if (entry.unusable.ok()) {
    // The object is parsed on its first use, not here: this is the committer's thread.
    auto object = codec::DecodeFromStorage(store_.kind, entry.bytes, entry.revision);
    if (object.ok()) {
      entry.object = std::move(*object);
      return;
    }
    entry.unusable = NewNotDecodable(entry.revision, object.status());
  }
  entry.object = store::NewUnusableObject(store_.kind, entry.unusable);
}

void Cache::Reset(Tree state, kv::Revision revision) {
  std::shared_ptr<ChangeLog> old;
  const auto objects = static_cast<std::int64_t>(state.size());
  const std::int64_t bytes = EncodedBytes(state);
  {
    auto locked = state_.Lock();
    objects_.store(objects);
    bytes_.store(bytes);
    old = std::exchange(locked->log, ChangeLog::New(revision, revision + 1));
    std::swap(locked->tree, state);
    locked->last_change = revision;
    locked->complete = revision;
    ForgetAll(*locked);
    revision_.store(revision);
    published_.store(revision);
  }
  // Events delivered to an observer meanwhile have not been applied yet: until then a consistent
  // read would miss an acknowledged write.
  if (progress_ == nullptr) ready_.store(true);
  old->Close();
  state_.NotifyAll();
}

void Cache::KeepUp() {
  keeps_up_.store(true);
  ready_.store(true);
  WakeWaiting();
}

std::vector<ChangeRef> Cache::NewChanges(std::span<const kv::Event* const> events) const {
  std::vector<ChangeRef> changes;
  changes.reserve(events.size());
  for (const kv::Event* event : events) {
    auto* change = new Change;
    changes.emplace_back(change);
    change->revision = event->kv.mod_revision;
    change->version = std::to_string(change->revision);
    if (event->type == kv::Event::Type::kPut) {
      change->now = NewEntry(event->kv);
    } else {
      // This entry holds the key until Put() replaces it by the one that the tree has deleted.
      change->before = EntryRef(Entry::New(event->kv.key));
    }
  }
  return changes;
}

void Cache::Put(State& state, std::vector<ChangeRef>& changes, Clock::Monotonic now) {
  for (ChangeRef& change : changes) {
    auto& made = const_cast<Change&>(*change);  // NOLINT: not shared yet.
    made.before = made.now ? state.tree.Put(made.now) : state.tree.Erase(made.before->key());
    state.last_change = made.revision;
    bytes_.fetch_add(EncodedBytes(made.now) - EncodedBytes(made.before), std::memory_order_relaxed);
    if (!made.now && !made.before) {
      // The deletion of an object that was never seen changes nothing for any reader.
      change = nullptr;
      continue;
    }
    const std::size_t bytes = kChangeBytes + (made.before ? BytesOf(*made.before) : 0);
    if (limits_.history != nullptr) limits_.history->Add(bytes);
    state.past.push_back({change, now, bytes});
  }
  objects_.store(static_cast<std::int64_t>(state.tree.size()), std::memory_order_relaxed);
  std::erase(changes, nullptr);
}

void Cache::Apply(std::span<const kv::Event* const> events, kv::Revision revision) {
  std::vector<ChangeRef> changes = NewChanges(events);
  if (!changes.empty()) {
    const Clock::Monotonic now = clock_.Now();
    std::vector<ChangeRef> dropped;  // Destroyed after the lock is released.
    std::shared_ptr<ChangeLog> log;
    kv::Revision forget = 0;
    {
      auto state = state_.Lock();
      Put(*state, changes, now);
      revision_.store(state->last_change);
      forget = Forget(*state, now, dropped);
      log = state->log;
    }
    // The log comes after the tree: a watcher that has received a change finds it there.
    log->Append(changes, revision);
    if (forget > 0) {
      log->TrimBelow(forget);
      if (on_forget_) on_forget_(dropped.back()->revision);
    }
  }
  Advance(revision);
}

void Cache::Advance(kv::Revision revision) {
  revision_.store(revision);
  published_.store(revision);
  if (on_advance_) on_advance_(revision);
  if (waiting_.load() > 0) WakeWaiting();
}

void Cache::WakeWaiting() const {
  // Taking the lock orders this after a thread that has counted itself and is about to wait.
  (void)state_.Lock();
  state_.NotifyAll();
}

kv::Revision Cache::Forget(State& state, Clock::Monotonic now, std::vector<ChangeRef>& dropped) {
  // Changes go in steps of a sixteenth, so that this work is not done for every change.
  const std::size_t slack = std::max<std::size_t>(limits_.changes_max / 16, 1);
  const std::size_t size = state.past.size();
  const std::size_t spare = size > kChangesMin ? size - kChangesMin : 0;
  std::size_t drop = 0;
  if (size > limits_.changes_max + slack) {
    drop = size - limits_.changes_max;
  } else if (spare > 0 && limits_.history != nullptr && limits_.history->over()) {
    drop = std::min(spare, std::max<std::size_t>(size / 16, 1));
  } else if (spare > slack && state.past[std::min(slack, spare)].time + limits_.window < now) {
    drop = slack;
  }
  if (drop == 0) return 0;
  for (; drop > 0; --drop) {
    Past& oldest = state.past.front();
    state.complete = oldest.change->revision;
    if (limits_.history != nullptr) limits_.history->Release(oldest.bytes);
    dropped.push_back(std::move(oldest.change));
    state.past.pop_front();
  }
  return state.past.front().change->revision;
}

void Cache::ForgetAll(State& state) {
  for (const Past& past : state.past) {
    if (limits_.history != nullptr) limits_.history->Release(past.bytes);
  }
  state.past.clear();
  state.kept.clear();
}

void Cache::Compact(kv::Revision compacted) {
  auto state = state_.Lock();
  std::erase_if(state->kept,
                [compacted](const KeptView& kept) { return kept.view.revision < compacted; });
}

void Cache::Close() {
  ready_.store(false);
  state_.Lock()->kept.clear();
  log()->Close();
}

EntryRef Cache::FindEntry(std::string_view key) const {
  auto state = state_.Lock();
  const EntryRef* found = state->tree.Find(key);
  return found != nullptr ? *found : nullptr;
}

std::optional<store::Memory::Known> Cache::Find(std::string_view key) const {
  if (!ready()) return std::nullopt;
  const EntryRef entry = FindEntry(key);
  // An unusable value is read from the engine: an update must report the error of the stored bytes.
  if (!entry || !entry->unusable.ok()) return std::nullopt;
  return store::Memory::Known{entry->object, entry->bytes, entry->revision, entry->lease};
}

std::optional<Stats> Cache::GetStats() const {
  if (!ready()) return std::nullopt;
  const std::int64_t objects = objects_.load(std::memory_order_relaxed);
  if (objects <= 0) return Stats{};
  return Stats{objects, bytes_.load(std::memory_order_relaxed) / objects};
}

View Cache::Now() const {
  auto state = state_.Lock();
  return {state->tree, state->last_change, this->revision()};
}

std::optional<View> Cache::Kept(kv::Revision revision) const {
  auto state = state_.Lock();
  // Nothing below the prefix has changed since: the present state is the one at `revision` too.
  if (const kv::Revision now = this->revision();
      state->last_change <= revision && revision <= now) {
    return View{state->tree, state->last_change, now};
  }
  for (const KeptView& kept : state->kept) {
    if (kept.view.ShowsRevision(revision)) return kept.view;
  }
  return std::nullopt;
}

Since Cache::ChangesAfter(kv::Revision revision) const {
  auto state = state_.Lock();
  Since since{{state->tree, state->last_change, this->revision()}, std::nullopt};
  if (revision < state->complete) return since;
  const auto first = FirstAfter(state->past, revision);
  since.changes.emplace();
  since.changes->reserve(static_cast<std::size_t>(state->past.end() - first));
  for (auto it = first; it != state->past.end(); ++it) since.changes->push_back(it->change);
  return since;
}

std::size_t Cache::CountAfter(kv::Revision revision) const {
  auto state = state_.Lock();
  return static_cast<std::size_t>(state->past.end() - FirstAfter(state->past, revision));
}

void Cache::Keep(View view) {
  const Clock::Monotonic now = clock_.Now();
  std::vector<KeptView> dropped;  // The trees are destroyed after the lock is released.
  auto state = state_.Lock();
  while (!state->kept.empty() &&
         (state->kept.size() >= kKeptMax || state->kept.front().time + limits_.window < now)) {
    dropped.push_back(std::move(state->kept.front()));
    state->kept.pop_front();
  }
  const auto same = std::find_if(
      state->kept.begin(), state->kept.end(),
      [&view](const KeptView& kept) { return kept.view.last_change == view.last_change; });
  if (same != state->kept.end()) {
    view.revision = std::max(view.revision, same->view.revision);
    dropped.push_back(std::move(*same));
    state->kept.erase(same);
  }
  state->kept.push_back({std::move(view), now});
}

bool Cache::WaitFor(const Context& ctx, kv::Revision revision, Clock::Monotonic deadline) const {
  const auto seen = [this, revision] { return this->revision() >= revision; };
  if (seen()) return true;
  std::atomic<bool> cancelled{false};
  const auto done = ctx.OnDone([this, &cancelled] {
    cancelled.store(true);
    WakeWaiting();
  });
  // A commit that has nothing for this cache does not call Advance().
  Context::Registration passed;
  if (progress_ != nullptr) passed = progress_->WhenSeen(revision, [this] { WakeWaiting(); });
  waiting_.fetch_add(1);
  (void)state_.Lock().WaitUntil(deadline, [&] { return seen() || cancelled.load(); });
  waiting_.fetch_sub(1);
  return seen();
}

}  // namespace apiserver::v0::storage::cacher
