#include "http/pool_batch.h"

#include <utility>

namespace apiserver::v0::http {

// A task that notices when it is destroyed unrun: a pool that stops drops its tasks, and the
// requests behind them must be answered all the same.
class PoolBatch::Runner {
 public:
  explicit Runner(std::shared_ptr<PoolBatch> batch) : batch_(std::move(batch)) {}
  Runner(Runner&&) noexcept = default;
  Runner& operator=(Runner&&) = delete;
  ~Runner() {
    if (batch_) batch_->Drop();
  }
  void operator()() { std::exchange(batch_, nullptr)->Run(); }

 private:
  std::shared_ptr<PoolBatch> batch_;
};

void PoolBatch::HandOver(std::vector<std::shared_ptr<PoolWork>>& work) {
  bool post = false;
  {
    auto queue = queue_.Lock();
    for (auto& item : work) queue->work.push_back(std::move(item));
    post = !std::exchange(queue->runner_posted, true);
  }
  work.clear();
  if (post) pool_->Post(Runner(shared_from_this()));
}

// The next thread is asked for before the piece runs, because the piece may block.
void PoolBatch::Run() {
  queue_.Lock()->runner_posted = false;
  for (;;) {
    std::shared_ptr<PoolWork> item;
    bool post = false;
    {
      auto queue = queue_.Lock();
      if (queue->work.empty()) return;
      item = std::move(queue->work.front());
      queue->work.pop_front();
      post = !queue->work.empty() && !std::exchange(queue->runner_posted, true);
    }
    if (post) pool_->Post(Runner(shared_from_this()));
    item->RunOnPool();
  }
}

void PoolBatch::Drop() {
  std::deque<std::shared_ptr<PoolWork>> dropped;
  {
    auto queue = queue_.Lock();
    queue->runner_posted = false;
    dropped.swap(queue->work);
  }
  for (const auto& item : dropped) item->DroppedByPool();
}

}  // namespace apiserver::v0::http
