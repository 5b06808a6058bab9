#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <map>
#include <thread>

#include "apiserver/base/sync.h"
#include "apiserver/client/informer.h"
#include "client/object_sink.h"

namespace apiserver::inline v0::client {

// One handler of a shared informer, with the changes that it has still to be told and the thread
// that tells them. Of an object at most one change waits: what happens to it meanwhile is added to
// that one, so that the memory of a slow handler is bounded by the number of objects.
class Listener {
 public:
  // A `resync_period` of zero: there are no resyncs.
  Listener(InformerHandler handler, std::chrono::milliseconds resync_period);

  // A change of an object.
  struct Step {
    const ObjectKey& key;
    const runtime::ObjectPtr& before;  // Null: it is new.
    const runtime::ObjectPtr& now;     // Null: it is gone.
    const runtime::ObjectPtr& gone;    // Its last state, if it is gone.
  };
  // Adds a change to what waits. `before` and `now` the same: a resync, which adds nothing to an
  // object that waits already. Any thread, but changes of an object in their order.
  void Add(const Step& step);
  // Has synced() notified once the handler was told what waits now.
  void AddSyncMark();

  // Starts the thread, which calls `resync` each time the resync period has passed. Call it once.
  void Start(std::function<void()> resync);
  // Ends the thread after the call of the handler that is under way, and drops what waits. Must
  // follow Start(). Idempotent; any thread.
  void Stop();
  // Waits until Stop() has had its effect. Not on the listener's own thread.
  void AwaitEnd() const { ended_.Wait(); }

  const Notification& synced() const { return synced_; }
  bool OnOwnThread() const { return own_thread_ == std::this_thread::get_id(); }

 private:
  struct Change {
    ObjectKey key;
    runtime::ObjectPtr before;  // The state that the handler was told last; null: none.
    runtime::ObjectPtr gone;    // The last state of `before`, if it was deleted since.
    runtime::ObjectPtr now;     // Null: deleted.
    bool sync_mark = false;     // No change, but AddSyncMark().
  };
  using Changes = std::list<Change>;
  struct State {
    Changes changes;
    std::map<ObjectKey, Changes::iterator> by_key;
    bool stopped = false;
  };

  static void Merge(State& state, Changes::iterator found, const Step& step);
  void Run(const std::function<void()>& resync);
  // Waits for the next change and moves it to the list `taken`, which is empty then if a resync is
  // due. False: stopped.
  bool Take(Changes& taken, std::chrono::steady_clock::time_point resync_at);
  void Tell(const Change& change);

  const InformerHandler handler_;
  const std::chrono::milliseconds resync_period_;
  Guarded<State> state_;
  Notification synced_;
  Notification ended_;
  std::atomic<std::thread::id> own_thread_{};
  Thread thread_;
};

}  // namespace apiserver::inline v0::client
