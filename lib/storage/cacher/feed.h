#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/progress.h"
#include "apiserver/base/sync.h"
#include "apiserver/storage/interface.h"
#include "storage/cacher/cache.h"

namespace apiserver::inline v0::storage::cacher {

// Keeps a cache in step with an engine: reads the state page by page, then observes an engine that
// can be observed, or follows the log of any other on an executor. Failures are retried for as long
// as it takes. Must be owned by a shared_ptr.
class Feed final : public Wakeable,
                   public std::enable_shared_from_this<Feed>,
                   private kv::Observer {
 public:
  struct Options {
    kv::Engine* engine;
    Executor* executor;
    std::string prefix;
    const Clock* clock;
    LogSink* log;
    std::shared_ptr<ProgressSink> progress;
    std::shared_ptr<Interface> predecessor;  // As cacher::Options has it.
  };
  Feed(Options options, std::shared_ptr<Cache> cache);

  // Registers with the engine. An engine that can be observed is in this process, and the state is
  // loaded before this returns; for any other, loading is only started.
  void Start();
  // Waits until the cache is ready while the first attempt to load it is running, at most until
  // `deadline`.
  bool WaitReady(const Context& ctx, Clock::Monotonic deadline) const;
  // True if every write that the engine has acknowledged is in the cache.
  bool observes() const { return observes_; }
  Progress warm_up() const { return progress_.Get(); }
  // Returns when a refused client should retry; the longer the cache has been down, the later: as
  // Go's watch cache, clamp(exp(0.06 * seconds), 1, 30).
  int RetryAfterSeconds() const;
  // Asks the engine for its progress, once for all waiting reads.
  void AskForProgress(const Context& ctx);
  // Stops and waits for running work. The engine makes no call afterwards.
  void Stop();

  void OnWake() override;

 private:
  static constexpr std::chrono::milliseconds kRetryMin{500};
  static constexpr std::chrono::milliseconds kRetryMax{10'000};
  static constexpr std::chrono::milliseconds kAskAgain{100};

  struct Pending {
    std::vector<kv::Event> events;
    kv::Revision revision = 0;
  };
  struct State {
    bool loading = false;  // A load is running or about to.
    bool reading = false;  // The engine is being read right now.
    bool stopped = false;
    int failures = 0;  // The number of failures in a row.
    // The time of the last request for progress, when the cache had seen asked_at.
    Clock::Monotonic asked = {};
    kv::Revision asked_at = 0;
    Executor::Cancel retry;
    std::unique_ptr<kv::Tail> tail;
  };
  // The commits before the state was loaded. Its lock orders loading and observing.
  struct Inbox {
    bool loaded = false;
    std::vector<Pending> pending;
  };
  struct Loaded {
    Tree tree;
    kv::Revision revision = 0;
  };

  void OnCommit(std::span<const kv::Event* const> events, kv::Revision revision) override;
  void OnCompact(kv::Revision compacted) override { cache_->Compact(compacted); }
  void PostLoad();
  // Makes one attempt, on a thread that may wait.
  void Load();
  void End(const Status& status);
  Result<Loaded> ReadAll();
  // Returns the predecessor's state, which is asked once. nullopt: there is none.
  std::optional<Loaded> TakeOver();
  // Gives a state to the cache, and the commits observed meanwhile.
  void Finish(Loaded loaded);
  Status FollowFrom(kv::Revision revision);
  void Lose(const Status& why);

  Options options_;  // Only the thread that loads changes it, and that the predecessor alone.
  const std::shared_ptr<Cache> cache_;
  const Context ctx_;  // The context of all work of this feed; cancelled by Stop().
  bool observes_ = false;
  Guarded<State> state_;
  ProgressReporter
      progress_;  // A job from the beginning, or the loss of the log, until it is ready.
  Guarded<Inbox> inbox_;
  // The last member, since the engine may call until it is destroyed.
  Guarded<std::unique_ptr<kv::Observation>> observation_;
};

}  // namespace apiserver::inline v0::storage::cacher
