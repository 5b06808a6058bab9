#pragma once

#include <atomic>
#include <cstddef>

namespace apiserver::inline v0 {

// One purpose's part of a server's memory, counted by those who use it. They decide what to give up
// once it is used up; nobody is refused. All methods from any thread.
class MemoryShare {
 public:
  explicit MemoryShare(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

  void Add(std::size_t bytes) { used_.fetch_add(bytes, std::memory_order_relaxed); }
  void Release(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t bytes_max() const { return bytes_max_; }
  bool over() const { return used() > bytes_max_; }

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_{0};
};

// What a server keeps in memory beyond the state that it serves.
struct MemoryBudget {
  struct Limits {
    // Superseded and deleted objects that watch caches keep for watches that resume and for lists
    // of the past. When it is used up each cache that changes gives up its oldest ones, down to a
    // thousand; what they would have answered is read from the engine, and watches that had not
    // come so far yet are closed.
    std::size_t history_bytes_max = std::size_t{64} << 20;
  };
  explicit MemoryBudget(const Limits& limits) : history(limits.history_bytes_max) {}
  MemoryBudget() : MemoryBudget(Limits()) {}

  MemoryShare history;
};

}  // namespace apiserver::inline v0
