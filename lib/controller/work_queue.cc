#include "apiserver/controller/work_queue.h"

#include <algorithm>
#include <deque>
#include <set>
#include <unordered_map>
#include <utility>

#include "apiserver/base/sync.h"
#include "controller/work_queue_metrics.h"

namespace apiserver::v0::controller {
namespace {

using std::chrono::nanoseconds;

class KeyQueue final : public WorkQueue {
 public:
  explicit KeyQueue(WorkQueueOptions options)
      : clock_(*options.clock),
        limiter_(options.rate_limiter ? std::move(options.rate_limiter)
                                      : NewRateLimiter({.clock = options.clock})),
        on_ready_(std::move(options.on_ready)),
        metrics_(options.metrics, options.name) {
    if (metrics_.counted()) {
      refreshed_ = options.metrics->BeforeSerialize([this] { CountUnfinished(); });
    }
  }

  void Add(NamespacedName key) override {
    {
      auto state = state_.Lock();
      if (!Enqueue(*state, std::move(key))) return;
      Wake(*state);
    }
    TellReady(nanoseconds(0));
  }
  void AddAfter(NamespacedName key, nanoseconds delay) override;
  void AddRateLimited(NamespacedName key) override {
    const nanoseconds delay = limiter_->When(key);
    AddAfter(std::move(key), delay);
  }
  void Forget(const NamespacedName& key) override { limiter_->Forget(key); }
  int Requeues(const NamespacedName& key) const override { return limiter_->Requeues(key); }

  std::optional<NamespacedName> Get() override;
  std::optional<NamespacedName> TryGet() override {
    auto state = state_.Lock();
    TakeUpDue(*state);
    return Take(*state);
  }
  void Done(const NamespacedName& key) override;

  void ShutDown() override {
    auto state = state_.Lock();
    state->drain = false;
    End(*state);
  }
  void ShutDownWithDrain() override;
  bool shutting_down() const override { return state_.Lock()->shut_down; }
  std::size_t size() const override { return state_.Lock()->waiting.size(); }

 private:
  // The state of a key that waits or is worked on.
  struct Entry {
    bool dirty = false;       // To be worked on, once it is not worked on any more.
    bool processing = false;  // A worker has taken it.
    Clock::Monotonic added;   // When it became dirty.
    Clock::Monotonic taken;
  };
  struct State {
    std::unordered_map<NamespacedName, Entry, NamespacedNameHash> entries;
    std::deque<NamespacedName> waiting;  // Those that are dirty and that no worker has.
    // Keys with a delay, by the time at which it ends, and that time by key.
    std::set<std::pair<Clock::Monotonic, NamespacedName>> delayed;
    std::unordered_map<NamespacedName, Clock::Monotonic, NamespacedNameHash> due;
    int drainers = 0;  // Threads in ShutDownWithDrain().
    bool drain = false;
    bool shut_down = false;
    bool watched = false;  // A worker waits for the delay that ends first, for all workers.
  };

  // Returns whether a worker has something to take that was not there before.
  bool Enqueue(State& state, NamespacedName key);
  // Enqueues the keys whose delay has ended.
  void TakeUpDue(State& state);
  std::optional<NamespacedName> Take(State& state);
  void End(State& state);
  // Wakes a worker. One that drains waits for the same signal, and might be woken in its place.
  void Wake(const State& state) {
    if (state.drainers > 0) return state_.NotifyAll();
    state_.NotifyOne();
  }
  // Must not be called with the lock held.
  void TellReady(nanoseconds after) const {
    if (on_ready_) on_ready_(after);
  }
  // Returns whether `key` waits for its delay now; if not, it waits already, or the queue has
  // ended.
  bool Delay(State& state, NamespacedName key, nanoseconds delay);
  void CountUnfinished();

  const Clock& clock_;
  const std::shared_ptr<RateLimiter> limiter_;
  const std::function<void(nanoseconds)> on_ready_;
  WorkQueueMetrics metrics_;
  Guarded<State> state_;
  Context::Registration refreshed_;  // The last member: it calls CountUnfinished().
};

bool KeyQueue::Enqueue(State& state, NamespacedName key) {
  if (state.shut_down) return false;
  Entry& entry = state.entries[key];
  if (std::exchange(entry.dirty, true)) return false;
  entry.added = clock_.Now();
  metrics_.Added();
  if (entry.processing) return false;
  state.waiting.push_back(std::move(key));
  return true;
}

void KeyQueue::AddAfter(NamespacedName key, nanoseconds delay) {
  {
    auto state = state_.Lock();
    if (state->shut_down) return;
    metrics_.Retried();
    if (delay <= nanoseconds(0)) {
      if (!Enqueue(*state, std::move(key))) return;
      Wake(*state);
    } else if (!Delay(*state, std::move(key), delay)) {
      return;
    }
  }
  TellReady(delay);
}

bool KeyQueue::Delay(State& state, NamespacedName key, nanoseconds delay) {
  const Clock::Monotonic until = clock_.Now() + delay;
  const auto [at, first] = state.due.try_emplace(key, until);
  if (!first) {
    if (at->second <= until) return false;
    state.delayed.erase({at->second, key});
    at->second = until;
  }
  const auto placed = state.delayed.emplace(until, std::move(key)).first;
  // The worker that waits for the first delay to end has to wait for this one instead.
  if (placed == state.delayed.begin()) state_.NotifyAll();
  return true;
}

void KeyQueue::TakeUpDue(State& state) {
  if (state.delayed.empty()) return;
  const Clock::Monotonic now = clock_.Now();
  while (!state.delayed.empty() && state.delayed.begin()->first <= now) {
    auto node = state.delayed.extract(state.delayed.begin());
    NamespacedName& key = node.value().second;
    state.due.erase(key);
    (void)Enqueue(state, std::move(key));
  }
}

std::optional<NamespacedName> KeyQueue::Take(State& state) {
  if (state.waiting.empty()) return std::nullopt;
  NamespacedName key = std::move(state.waiting.front());
  state.waiting.pop_front();
  Entry& entry = state.entries[key];
  entry.dirty = false;
  entry.processing = true;
  entry.taken = clock_.Now();
  metrics_.Taken(entry.taken - entry.added);
  return key;
}

// One worker waits for the delay that ends first, the others until there is a key; it hands that
// task over when it leaves.
std::optional<NamespacedName> KeyQueue::Get() {
  auto state = state_.Lock();
  for (;;) {
    TakeUpDue(*state);
    if (auto key = Take(*state)) {
      if (!state->waiting.empty() || !state->delayed.empty()) Wake(*state);
      return key;
    }
    if (state->shut_down) return std::nullopt;
    if (state->delayed.empty() || state->watched) {
      state.Wait([&] {
        return !state->waiting.empty() || state->shut_down ||
               (!state->watched && !state->delayed.empty());
      });
      continue;
    }
    const Clock::Monotonic first = state->delayed.begin()->first;
    state->watched = true;
    // By the machine's clock, since a test's stands still.
    state.WaitUntil(RealClock().Now() + (first - clock_.Now()), [&] {
      return !state->waiting.empty() || state->shut_down || state->delayed.empty() ||
             state->delayed.begin()->first < first;
    });
    state->watched = false;
  }
}

void KeyQueue::Done(const NamespacedName& key) {
  {
    auto state = state_.Lock();
    const auto at = state->entries.find(key);
    if (at == state->entries.end() || !std::exchange(at->second.processing, false)) return;
    metrics_.Worked(clock_.Now() - at->second.taken);
    if (!at->second.dirty) {
      state->entries.erase(at);
      if (state->entries.empty() && state->drainers > 0) state_.NotifyAll();
      return;
    }
    state->waiting.push_back(key);
    Wake(*state);
  }
  TellReady(nanoseconds(0));
}

void KeyQueue::End(State& state) {
  state.shut_down = true;
  state.delayed.clear();
  state.due.clear();
  state_.NotifyAll();
}

void KeyQueue::ShutDownWithDrain() {
  auto state = state_.Lock();
  state->drain = true;
  End(*state);
  ++state->drainers;
  state.Wait([&] { return state->entries.empty() || !state->drain; });
  --state->drainers;
}

void KeyQueue::CountUnfinished() {
  const auto state = state_.Lock();
  Clock::Monotonic::duration all{};
  Clock::Monotonic::duration longest{};
  const Clock::Monotonic now = clock_.Now();
  for (const auto& [key, entry] : state->entries) {
    if (!entry.processing) continue;
    all += now - entry.taken;
    longest = std::max(longest, now - entry.taken);
  }
  metrics_.SetUnfinished(all, longest);
}

}  // namespace

std::unique_ptr<WorkQueue> NewWorkQueue(WorkQueueOptions options) {
  return std::make_unique<KeyQueue>(std::move(options));
}

}  // namespace apiserver::v0::controller
