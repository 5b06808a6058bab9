#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"

// Time and work that stand still until a test moves them. For one thread.
namespace apiserver::inline v0::testing {

class ManualClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(passed_); }
  Wall WallNow() const override {
    return Wall(std::chrono::duration_cast<Wall::duration>(passed_));
  }
  void Advance(std::chrono::nanoseconds by) { passed_ += by; }

 private:
  std::chrono::nanoseconds passed_{0};
};

class ManualExecutor final : public Executor {
 public:
  void Post(Task task) override {
    ++posts;
    tasks_.push_back(std::move(task));
  }
  Cancel PostAfter(std::chrono::nanoseconds delay, Task task) override {
    const auto id = std::pair(now_ + delay, next_id_++);
    timers_->emplace(id, std::move(task));
    return [weak = std::weak_ptr(timers_), id] {
      if (const auto timers = weak.lock()) timers->erase(id);
    };
  }
  bool may_block() const override { return true; }
  bool Inside() const override { return true; }

  // Runs what is queued, and what that queues.
  void Drain() {
    while (!tasks_.empty()) {
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }
  // Lets time pass and runs the timers that are due.
  void Advance(std::chrono::nanoseconds by) {
    now_ += by;
    while (!timers_->empty() && timers_->begin()->first.first <= now_) {
      Task task = std::move(timers_->begin()->second);
      timers_->erase(timers_->begin());
      task();
    }
    Drain();
  }
  std::size_t timers() const { return timers_->size(); }

  int posts = 0;

 private:
  using Timers = std::map<std::pair<std::chrono::nanoseconds, int>, Task>;
  std::deque<Task> tasks_;
  std::shared_ptr<Timers> timers_ = std::make_shared<Timers>();
  std::chrono::nanoseconds now_{0};
  int next_id_ = 0;
};

}  // namespace apiserver::inline v0::testing
