#include "aggregator/control/work_queue.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace apiserver::v0::aggregator {
namespace {

constexpr int kDoublingsMax = 30;

}  // namespace

void WorkQueue::Add(const std::string& name) {
  {
    const auto state = state_.Lock();
    if (state->stopped || !state->waiting.insert(name).second) return;
    // Finish() puts it into the queue.
    if (state->running.contains(name)) return;
    state->ready.push_back(name);
    if (state->workers >= options_.workers) return;
    ++state->workers;
  }
  options_.pool->Post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Run();
  });
}

void WorkQueue::AddAfter(const std::string& name, std::chrono::milliseconds delay) {
  (void)options_.pool->PostAfter(delay, [weak = weak_from_this(), name] {
    if (const auto self = weak.lock()) self->Add(name);
  });
}

void WorkQueue::Stop() {
  auto state = state_.Lock();
  state->stopped = true;
  state->ready.clear();
  state.Wait([&state] { return state->running.empty(); });
}

void WorkQueue::Run() {
  while (true) {
    std::string name;
    {
      const auto state = state_.Lock();
      if (state->ready.empty()) {
        --state->workers;
        return;
      }
      name = std::move(state->ready.front());
      state->ready.pop_front();
      state->waiting.erase(name);
      state->running.insert(name);
    }
    Finish(name, options_.work(name));
  }
}

void WorkQueue::Finish(const std::string& name, const Status& status) {
  std::chrono::milliseconds pause(0);
  {
    const auto state = state_.Lock();
    state->running.erase(name);
    if (!state->stopped && state->waiting.contains(name)) state->ready.push_back(name);
    if (status.ok()) {
      state->failures.erase(name);
    } else {
      const int failures = std::min(state->failures[name]++, kDoublingsMax);
      pause = std::min(options_.backoff_max, options_.backoff * (std::int64_t{1} << failures));
    }
  }
  state_.NotifyAll();
  if (!status.ok()) AddAfter(name, pause);
}

}  // namespace apiserver::v0::aggregator
