#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::http {

// Work that a loop gives to a pool.
class PoolWork {
 public:
  virtual ~PoolWork() = default;
  virtual void RunOnPool() = 0;
  // The pool has stopped; called instead, on whichever thread found out.
  virtual void DroppedByPool() = 0;
};

// Hands the work of one turn of a loop to a pool with one Post. The thread that takes it works it
// off; before each piece but the last it asks for one more thread, so that pieces that wait do not
// hold up the others, while pieces that do not are all done before that thread is awake.
class PoolBatch final : public std::enable_shared_from_this<PoolBatch> {
 public:
  explicit PoolBatch(Executor& pool) : pool_(&pool) {}

  // Leaves `work` empty.
  void HandOver(std::vector<std::shared_ptr<PoolWork>>& work);

 private:
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
