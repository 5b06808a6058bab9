#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"
#include "storage/cacher/cache.h"

namespace apiserver::inline v0::storage::cacher {

// Keeps a cache in step with an engine: observes one that can be observed, follows the log of any
// other on an executor. Must be owned by a shared_ptr.
class Feed final : public Wakeable, public std::enable_shared_from_this<Feed> {
 public:
  struct Options {
    kv::Engine* engine;
    Executor* executor;
    std::string prefix;
    const Clock* clock;
    LogSink* log;
  };
  Feed(Options options, std::shared_ptr<Cache> cache);

  // Registers with the engine, and loads if `ctx` may wait.
  Status Start(const Context& ctx);
  // Loads the state if that has not been done, or has failed longer ago than kRetryAfter. Waits.
  Status EnsureLoaded(const Context& ctx);
  // True: what the engine has acknowledged is in the cache.
  bool observes() const { return observes_; }
  void Stop();

  void OnWake() override;

 private:
  static constexpr std::chrono::milliseconds kRetryAfter = std::chrono::seconds(1);

  class EngineObserver;
  struct Pending {
    std::vector<kv::Event> events;
    kv::Revision revision = 0;
  };
  struct State {
    bool loading = false;
    bool stopped = false;
    Status failure;
    Clock::Monotonic retry_at = {};
    std::unique_ptr<kv::Tail> tail;
  };
  // What happened before the state was loaded. Its lock orders loading and observing.
  struct Inbox {
    bool loaded = false;
    std::vector<Pending> pending;
  };

  void Observe(const std::vector<kv::Event>& events, kv::Revision revision);
  Status Load(const Context& ctx);
  Tree TreeOf(const std::vector<kv::KeyValue>& state) const;
  void Finish(const std::vector<kv::KeyValue>& state, kv::Revision revision);
  Status FollowFrom(kv::Revision revision);

  const Options options_;
  const std::shared_ptr<Cache> cache_;
  bool observes_ = false;
  Guarded<State> state_;
  Guarded<Inbox> inbox_;
};

}  // namespace apiserver::inline v0::storage::cacher
