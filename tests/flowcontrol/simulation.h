#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"

namespace apiserver::inline v0::testing {

// Time that jumps from event to event, and an executor whose timers are those events. For one
// thread; events of one instant run in the order in which they were asked for.
class Simulation final : public Clock, public Executor {
 public:
  Monotonic Now() const override { return Monotonic(now_); }
  Wall WallNow() const override { return Wall(std::chrono::duration_cast<Wall::duration>(now_)); }
  void Post(Task task) override { (void)PostAfter(std::chrono::nanoseconds(0), std::move(task)); }
  Cancel PostAfter(std::chrono::nanoseconds delay, Task task) override {
    const auto id = std::pair(now_ + delay, next_id_++);
    events_->emplace(id, std::move(task));
    return [weak = std::weak_ptr(events_), id] {
      if (const auto events = weak.lock()) events->erase(id);
    };
  }
  bool may_block() const override { return true; }
  bool Inside() const override { return true; }

  // Runs what is due by `until`, and lets time pass until then.
  void RunUntil(std::chrono::nanoseconds until) {
    while (!events_->empty() && events_->begin()->first.first <= until) RunNext();
    now_ = until;
  }
  void RunAll() {
    while (!events_->empty()) RunNext();
  }
  std::chrono::nanoseconds now() const { return now_; }
  std::size_t pending() const { return events_->size(); }

 private:
  using Events = std::map<std::pair<std::chrono::nanoseconds, std::uint64_t>, Task>;

  void RunNext() {
    now_ = events_->begin()->first.first;
    Task task = std::move(events_->begin()->second);
    events_->erase(events_->begin());
    task();
  }

  std::shared_ptr<Events> events_ = std::make_shared<Events>();
  std::chrono::nanoseconds now_{0};
  std::uint64_t next_id_ = 0;
};

}  // namespace apiserver::inline v0::testing
