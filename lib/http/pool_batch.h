#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::http {

// One piece of work that a loop gives to a pool.
class PoolWork {
 public:
  virtual ~PoolWork() = default;
  virtual void RunOnPool() = 0;
  // Called instead of RunOnPool if the pool has stopped, on the thread that found out.
  virtual void DroppedByPool() = 0;
};

// Hands the work of one turn of a loop to a pool with one Post, because waking a thread costs more
// than most pieces. The thread that takes the batch runs all of it. Before each piece but the last
// it asks for one more thread: a piece that blocks does not delay the others, and pieces that do
// not block are all done before that thread is awake.
class PoolBatch final : public std::enable_shared_from_this<PoolBatch> {
 public:
  explicit PoolBatch(Executor& pool) : pool_(&pool) {}

  // Takes the pieces; leaves `work` empty.
  void HandOver(std::vector<std::shared_ptr<PoolWork>>& work);

 private:
  // The task that is posted to the pool.
  class Runner;
  struct Queue {
    std::deque<std::shared_ptr<PoolWork>> work;
    bool runner_posted = false;
  };
  void Run();
  void Drop();

  Executor* pool_;
  Guarded<Queue> queue_;
};

}  // namespace apiserver::inline v0::http
