#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "apiserver/base/executor.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::aggregator {

// Names with work to be done, each by one thread at a time and again if it is added meanwhile:
// k8s.io/client-go/util/workqueue with its workers. It has no thread of its own. Any thread.
class WorkQueue : public std::enable_shared_from_this<WorkQueue> {
 public:
  struct Options {
    Executor* pool = nullptr;  // Runs the work, which may block. Must outlive this.
    std::size_t workers = 1;
    // The pause after a failure of a name, doubled by each further one; a success ends it.
    std::chrono::milliseconds backoff = std::chrono::milliseconds(5);
    std::chrono::milliseconds backoff_max = std::chrono::seconds(30);
    // Does the work of a name; may block. After an error it is called again.
    std::function<Status(const std::string& name)> work;
  };
  explicit WorkQueue(Options options) : options_(std::move(options)) {}
  ~WorkQueue() { Stop(); }

  void Add(const std::string& name);
  void AddAfter(const std::string& name, std::chrono::milliseconds delay);
  // Drops what waits, and waits for what runs. Idempotent.
  void Stop();

 private:
  struct State {
    std::deque<std::string> ready;
    std::set<std::string> waiting;  // Those in `ready`, or running and to be run again.
    std::set<std::string> running;
    std::map<std::string, int> failures;
    std::size_t workers = 0;
    bool stopped = false;
  };

  void Run();
  // Takes note of how the work of a name has ended.
  void Finish(const std::string& name, const Status& status);

  const Options options_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::aggregator
