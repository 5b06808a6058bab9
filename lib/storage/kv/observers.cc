#include "apiserver/storage/kv/observers.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "storage/kv/prefix_map.h"

namespace apiserver::v0::storage::kv {
namespace {

constexpr Revision kNever = std::numeric_limits<Revision>::max();

// The calls made to a receiver that may go away at any time.
class Calls {
 public:
  // False: the receiver has gone and must not be called.
  bool Begin() {
    auto state = state_.Lock();
    if (state->ended) return false;
    state->running = true;
    state->caller = std::this_thread::get_id();
    return true;
  }
  void Finish() {
    state_.Lock()->running = false;
    state_.NotifyAll();
  }
  // Lets no call begin, and waits for one that is running on another thread.
  void End() {
    auto state = state_.Lock();
    state->ended = true;
    if (state->caller == std::this_thread::get_id()) return;
    state.Wait([&state] { return !state->running; });
  }

 private:
  struct State {
    bool ended = false;
    bool running = false;
    std::thread::id caller;  // The thread of the last call.
  };
  Guarded<State> state_;
};

}  // namespace

class Observers::Core final : public std::enable_shared_from_this<Core> {
 public:
  struct Entry;

  std::unique_ptr<Observation> Add(std::string_view prefix, Observer& observer, Revision begin);
  void Remove(const std::shared_ptr<Entry>& entry);
  bool empty() const { return index_.Lock()->empty(); }
  void Commit(std::span<const Event> events, Revision revision);
  void Compact(Revision compacted);
  Revision seen() const { return seen_.load(std::memory_order_acquire); }
  Context::Registration WhenSeen(Revision revision, UniqueFunction<void()> tell);

 private:
  struct Waiter {
    void Tell() {
      if (!calls.Begin()) return;
      tell();
      tell = nullptr;  // Destroyed before an End() that waits for the call returns.
      calls.Finish();
    }
    UniqueFunction<void()> tell;
    Calls calls;
  };
  using Waiting = std::multimap<Revision, std::shared_ptr<Waiter>>;

  void Find(std::span<const Event> events);
  void TellWaiters(Revision revision);
  // Removes `waiter`; false if it was no longer there to be told.
  bool Take(Revision revision, const std::shared_ptr<Waiter>& waiter);

  Guarded<PrefixMap<std::shared_ptr<Entry>>> index_;
  // The observers of the commit under way.
  std::vector<std::shared_ptr<Entry>> touched_;
  // Everything up to this revision has been delivered. A commit stores this and then loads
  // `awaited_`; a waiter stores `awaited_` and then loads this. All four are seq_cst, so at least
  // one of the two sees the other, and no waiter is left behind.
  std::atomic<Revision> seen_{0};
  std::atomic<Revision> awaited_{kNever};  // The least revision in `waiting_`.
  Guarded<Waiting> waiting_;
};

struct Observers::Core::Entry final : Progress {
  Entry(std::shared_ptr<Core> c, std::string_view p, Observer& o, Revision b)
      : core(std::move(c)), prefix(p), observer(o), begin(b) {}

  Revision seen() const override {
    // The order of the two loads matters; see Progress.
    const Revision told = core->seen();
    return std::max(begin, std::min(told, ended.load(std::memory_order_acquire)));
  }
  Context::Registration WhenSeen(Revision revision, UniqueFunction<void()> tell) const override {
    if (seen() < revision) return core->WhenSeen(revision, std::move(tell));
    tell();
    return {};
  }

  const std::shared_ptr<Core> core;
  const std::string prefix;
  Observer& observer;
  const Revision begin;
  std::atomic<Revision> ended{kNever};  // The last revision delivered before its observation ended.
  Calls calls;
  std::vector<const Event*> events;  // The events that the commit under way has for it.
};

namespace {

template <class Entry>
class Registered final : public Observation {
 public:
  explicit Registered(std::shared_ptr<Entry> entry) : entry_(std::move(entry)) {}
  ~Registered() override { entry_->core->Remove(entry_); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

  Revision begin() const override { return entry_->begin; }
  std::shared_ptr<const Progress> progress() const override { return entry_; }

 private:
  const std::shared_ptr<Entry> entry_;
};

}  // namespace

std::unique_ptr<Observation> Observers::Core::Add(std::string_view prefix, Observer& observer,
                                                  Revision begin) {
  auto entry = std::make_shared<Entry>(shared_from_this(), prefix, observer, begin);
  index_.Lock()->Add(prefix, entry);
  return std::make_unique<Registered<Entry>>(std::move(entry));
}

void Observers::Core::Remove(const std::shared_ptr<Entry>& entry) {
  // The end is stored first, since the two steps that follow let a commit miss the observer.
  entry->ended.store(seen());
  index_.Lock()->Remove(entry->prefix, entry);
  entry->calls.End();
}

void Observers::Core::Find(std::span<const Event> events) {
  auto index = index_.Lock();
  for (const Event& event : events) {
    index->ForPrefixesOf(event.kv.key, [&](const std::shared_ptr<Entry>& entry) {
      // Readers were shown this event before the observer was added.
      if (event.kv.mod_revision <= entry->begin) return;
      if (entry->events.empty()) touched_.push_back(entry);
      entry->events.push_back(&event);
    });
  }
}

void Observers::Core::Commit(std::span<const Event> events, Revision revision) {
  if (!events.empty()) Find(events);
  for (const auto& entry : touched_) {
    if (entry->calls.Begin()) {
      entry->observer.OnCommit(entry->events, revision);
      entry->calls.Finish();
    }
    entry->events.clear();
  }
  touched_.clear();
  seen_.store(revision);
  TellWaiters(revision);
}

void Observers::Core::Compact(Revision compacted) {
  std::vector<std::shared_ptr<Entry>> all;
  index_.Lock()->ForAll([&all](const std::shared_ptr<Entry>& entry) { all.push_back(entry); });
  for (const auto& entry : all) {
    if (!entry->calls.Begin()) continue;
    entry->observer.OnCompact(compacted);
    entry->calls.Finish();
  }
}

Context::Registration Observers::Core::WhenSeen(Revision revision, UniqueFunction<void()> tell) {
  auto waiter = std::make_shared<Waiter>();
  waiter->tell = std::move(tell);
  {
    auto waiting = waiting_.Lock();
    waiting->emplace(revision, waiter);
    awaited_.store(waiting->begin()->first);
  }
  // The commit may have come in between and not have found the waiter.
  if (seen_.load() >= revision && Take(revision, waiter)) waiter->Tell();
  return Context::Registration([core = shared_from_this(), revision, waiter] {
    core->Take(revision, waiter);
    waiter->calls.End();
  });
}

void Observers::Core::TellWaiters(Revision revision) {
  if (awaited_.load() > revision) return;
  std::vector<std::shared_ptr<Waiter>> due;
  {
    auto waiting = waiting_.Lock();
    const auto end = waiting->upper_bound(revision);
    for (auto next = waiting->begin(); next != end; ++next) due.push_back(std::move(next->second));
    waiting->erase(waiting->begin(), end);
    awaited_.store(waiting->empty() ? kNever : waiting->begin()->first);
  }
  for (const auto& waiter : due) waiter->Tell();
}

bool Observers::Core::Take(Revision revision, const std::shared_ptr<Waiter>& waiter) {
  auto waiting = waiting_.Lock();
  auto [next, end] = waiting->equal_range(revision);
  next = std::find_if(next, end, [&waiter](const auto& one) { return one.second == waiter; });
  if (next == end) return false;
  waiting->erase(next);
  awaited_.store(waiting->empty() ? kNever : waiting->begin()->first);
  return true;
}

Observers::Observers() : core_(std::make_shared<Core>()) {}
Observers::~Observers() = default;

std::unique_ptr<Observation> Observers::Add(std::string_view prefix, Observer& observer,
                                            Revision begin) {
  return core_->Add(prefix, observer, begin);
}

bool Observers::empty() const { return core_->empty(); }

void Observers::Commit(std::span<const Event> events, Revision revision) {
  core_->Commit(events, revision);
}

void Observers::Compact(Revision compacted) { core_->Compact(compacted); }

}  // namespace apiserver::v0::storage::kv
