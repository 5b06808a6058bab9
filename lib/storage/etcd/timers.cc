#include "storage/etcd/timers.h"

#include <utility>

namespace apiserver::v0::storage::etcd {

void Timers::After(std::chrono::nanoseconds delay, UniqueFunction<void()> task) {
  {
    auto state = state_.Lock();
    if (!state->stopping) {
      state->tasks.emplace(RealClock().Now() + delay, std::move(task));
      task = nullptr;
    }
  }
  state_.NotifyAll();
  // After Stop() it runs here: nothing else would run it, and a call may wait for its end.
  if (task) task();
}

// Runs what is left before its time, so that calls in a pause come to their end.
void Timers::Stop() {
  state_.Lock()->stopping = true;
  state_.NotifyAll();
  if (thread_.joinable()) thread_.Join();
  for (;;) {
    UniqueFunction<void()> task;
    {
      auto state = state_.Lock();
      if (state->tasks.empty()) return;
      task = std::move(state->tasks.begin()->second);
      state->tasks.erase(state->tasks.begin());
    }
    task();
  }
}

UniqueFunction<void()> Timers::Next() {
  auto state = state_.Lock();
  while (!state->stopping) {
    if (state->tasks.empty()) {
      state.Wait([&state] { return state->stopping || !state->tasks.empty(); });
      continue;
    }
    const auto first = state->tasks.begin();
    const auto due = first->first;
    if (due <= RealClock().Now()) return std::move(state->tasks.extract(first).mapped());
    state.WaitUntil(due,
                    [&state, due] { return state->stopping || state->tasks.begin()->first < due; });
  }
  return nullptr;
}

void Timers::Run() {
  while (auto task = Next()) task();
}

}  // namespace apiserver::v0::storage::etcd
