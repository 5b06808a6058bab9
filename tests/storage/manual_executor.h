#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"

namespace apiserver::inline v0::testing {

// Runs what is posted at once, and timers when it is told to.
class ManualExecutor final : public Executor {
 public:
  void Post(Task task) override { task(); }
  Cancel PostAfter(std::chrono::nanoseconds, Task task) override {
    timers_.push_back(std::move(task));
    return [] {};
  }
  bool may_block() const override { return true; }
  bool Inside() const override { return false; }
  std::size_t timers() const { return timers_.size(); }
  void RunTimers() {
    auto timers = std::move(timers_);
    timers_.clear();
    for (auto& timer : timers) timer();
  }

 private:
  std::vector<Task> timers_;
};

}  // namespace apiserver::inline v0::testing
