#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/storage/kv/engine.h"

namespace apiserver::inline v0::storage::etcd {

// The events received for one tail and not read yet. One thread at a time feeds it (under the hub's
// lock, in revision order), one reads it. It knows its prefix and takes only matching events.
class TailQueue {
 public:
  TailQueue(std::string prefix, kv::Revision from, std::size_t bytes_max)
      : prefix_(std::move(prefix)), bytes_max_(bytes_max), state_(from) {}

  const std::string& prefix() const { return prefix_; }

  // Adds the events of the log up to `complete`; those below `next()` are old. Returns the waker to
  // use. `hurry`: a reader waits for progress even without events.
  Waker Offer(const std::vector<kv::Event>& events, kv::Revision complete, bool hurry);
  void End(Status why, kv::Revision compacted);
  // Returns the waker to use if there is unread progress.
  Waker Hurry();

  // Returns the least revision that was not offered yet.
  kv::Revision next() const { return state_.Lock()->complete + 1; }
  // True if so much is unread that nothing more should be offered until it has been read.
  bool full() const { return state_.Lock()->bytes > bytes_max_; }

  // The part for the reader.
  struct Read {
    kv::Tail::State state = kv::Tail::State::kWait;
    bool empty = false;  // All offered events have been read.
  };
  Read Next(kv::EventBatch& batch, const Waker& waker);
  Status status() const { return state_.Lock()->end; }
  kv::Revision compacted() const { return state_.Lock()->compacted; }

  // Set when the hub has left it for being full: once it is empty the reader asks the hub to go on.
  std::atomic<bool> starving = false;

 private:
  struct State {
    explicit State(kv::Revision from) : complete(from - 1), read(from - 1) {}
    std::deque<kv::EventBatch> batches;
    std::size_t bytes = 0;
    kv::Revision complete;  // The revision up to which events were offered.
    kv::Revision read;      // The revision up to which the reader has read.
    Waker waker;
    bool ended = false;
    Status end;  // The reader sees it once all is read.
    kv::Revision compacted = 0;
  };

  const std::string prefix_;
  const std::size_t bytes_max_;
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::etcd
