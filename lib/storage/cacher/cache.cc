#include "storage/cacher/cache.h"

#include <algorithm>
#include <utility>

#include "apiserver/codec/codec.h"

namespace apiserver::inline v0::storage::cacher {

Cache::Cache(runtime::KindPtr kind, std::string prefix, Limits limits, const Clock& clock)
    : kind_(std::move(kind)), prefix_(std::move(prefix)), limits_(limits), clock_(clock) {
  state_.Lock()->log = ChangeLog::New(0, 1);
}

EntryRef Cache::NewEntry(const kv::KeyValue& kv) const {
  auto* entry = new Entry;
  EntryRef owner(entry);
  entry->key = kv.key;
  entry->bytes = kv.value;
  entry->revision = kv.mod_revision;
  entry->lease = kv.lease;
  // Parsed by whoever looks at it first, not here: this is the committer's thread.
  if (auto object = codec::DecodeFromStorage(kind_, kv.value, kv.mod_revision); object.ok()) {
    entry->object = std::move(*object);
  }
  return owner;
}

void Cache::Reset(const std::vector<kv::KeyValue>& state, kv::Revision revision) {
  Tree tree;
  for (const kv::KeyValue& kv : state) tree.Put(NewEntry(kv));
  std::shared_ptr<ChangeLog> old;
  {
    auto locked = state_.Lock();
    old = std::exchange(locked->log, ChangeLog::New(revision, revision + 1));
    locked->tree = std::move(tree);
    locked->last_change = revision;
    locked->marks.clear();
    locked->kept.clear();
    revision_.store(revision);
    published_.store(revision);
  }
  ready_.store(true);
  old->Close();
  state_.NotifyAll();
}

void Cache::Apply(const std::vector<kv::Event>& events, kv::Revision revision) {
  std::vector<ChangeRef> changes;
  for (const kv::Event& event : events) {
    if (!event.kv.key.starts_with(prefix_)) continue;
    auto* change = new Change;
    changes.emplace_back(change);
    change->revision = event.kv.mod_revision;
    change->version = std::to_string(change->revision);
    if (event.type == kv::Event::Type::kPut) change->now = NewEntry(event.kv);
    auto state = state_.Lock();
    change->before = change->now ? state->tree.Put(change->now) : state->tree.Erase(event.kv.key);
    state->last_change = change->revision;
    revision_.store(change->revision);
    // A deletion of what was never seen tells nobody anything.
    if (!change->now && !change->before) changes.pop_back();
  }
  if (!changes.empty()) {
    const Clock::Monotonic now = clock_.Now();
    std::shared_ptr<ChangeLog> log;
    kv::Revision forget = 0;
    {
      auto state = state_.Lock();
      for (const ChangeRef& change : changes) state->marks.push_back({change->revision, now});
      forget = ForgetBelow(*state, now);
      log = state->log;
    }
    // After the tree: whoever has been told of a change finds it there.
    log->Append(changes, revision);
    if (forget > 0) log->TrimBelow(forget);
  }
  Advance(revision);
}

void Cache::Advance(kv::Revision revision) {
  revision_.store(revision);
  published_.store(revision);
  if (waiting_.load() == 0) return;
  // Who has counted itself and is about to wait holds the lock.
  (void)state_.Lock();
  state_.NotifyAll();
}

kv::Revision Cache::ForgetBelow(State& state, Clock::Monotonic now) const {
  // In steps of a sixteenth, so that it is not done for every change.
  const std::size_t slack = std::max<std::size_t>(limits_.changes_max / 16, 1);
  const auto old = [&](const Mark& mark) { return mark.time + limits_.window < now; };
  std::size_t drop = 0;
  if (state.marks.size() > limits_.changes_max + slack) {
    drop = state.marks.size() - limits_.changes_max;
  } else if (state.marks.size() > kChangesMin + slack &&
             old(state.marks[std::min(slack, state.marks.size() - kChangesMin)])) {
    drop = slack;
  }
  if (drop == 0) return 0;
  state.marks.erase(state.marks.begin(), state.marks.begin() + static_cast<std::ptrdiff_t>(drop));
  return state.marks.front().revision;
}

void Cache::Compact(kv::Revision compacted) {
  auto state = state_.Lock();
  std::erase_if(state->kept,
                [compacted](const Kept& kept) { return kept.view.revision < compacted; });
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
  if (!entry || entry->object == nullptr) return std::nullopt;
  return store::Memory::Known{entry->object, entry->bytes, entry->revision, entry->lease};
}

View Cache::Now() const {
  auto state = state_.Lock();
  return {state->tree, state->last_change, revision_.load()};
}

std::optional<View> Cache::At(kv::Revision revision) const {
  auto state = state_.Lock();
  if (state->last_change <= revision && revision <= revision_.load()) {
    return View{state->tree, state->last_change, revision_.load()};
  }
  for (const Kept& kept : state->kept) {
    if (kept.view.ShowsRevision(revision)) return kept.view;
  }
  return std::nullopt;
}

void Cache::Keep(View view) {
  const Clock::Monotonic now = clock_.Now();
  std::vector<Kept> dropped;  // Trees are freed outside of the lock.
  auto state = state_.Lock();
  while (!state->kept.empty() &&
         (state->kept.size() >= kKeptMax || state->kept.front().time + limits_.window < now)) {
    dropped.push_back(std::move(state->kept.front()));
    state->kept.pop_front();
  }
  if (!state->kept.empty() && state->kept.back().view.last_change == view.last_change) {
    View& last = state->kept.back().view;
    last.revision = std::max(last.revision, view.revision);
    state->kept.back().time = now;
    return;
  }
  state->kept.push_back({std::move(view), now});
}

bool Cache::WaitFor(const Context& ctx, kv::Revision revision, Clock::Monotonic deadline) const {
  if (revision_.load() >= revision) return true;
  std::atomic<bool> cancelled{false};
  const auto wake = ctx.OnDone([this, &cancelled] {
    cancelled.store(true);
    (void)state_.Lock();
    state_.NotifyAll();
  });
  waiting_.fetch_add(1);
  (void)state_.Lock().WaitUntil(deadline,
                                [&] { return revision_.load() >= revision || cancelled.load(); });
  waiting_.fetch_sub(1);
  return revision_.load() >= revision;
}

}  // namespace apiserver::inline v0::storage::cacher
