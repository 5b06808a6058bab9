#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/sync.h"
#include "storage/cacher/cache.h"
#include "storage/kv/call_gate.h"

namespace apiserver::inline v0::storage::cacher {

// The requests that hold no thread while they wait until a cache has seen a revision. While there
// are any, the engine is asked for its progress. All methods may be called from any thread.
class FreshWaiters final : public std::enable_shared_from_this<FreshWaiters> {
 public:
  // The longest wait of a read, which may go on waiting on a thread.
  static constexpr std::chrono::milliseconds kWaitMax{500};
  // The interval at which the engine is asked anew while reads wait.
  static constexpr std::chrono::milliseconds kAskAgain{100};

  // `ask` is called on the executor, where it may block, and not after Stop().
  FreshWaiters(std::shared_ptr<const Cache> cache, Executor* executor, std::function<void()> ask)
      : cache_(std::move(cache)), executor_(executor), ask_(std::move(ask)) {}

  // Calls `done` once: OK when the cache has seen `revision`, perhaps before this returns; kTimeout
  // after `wait`, up to kAskAgain late; kServiceUnavailable after Stop(). `done` is called on any
  // thread, the engine's committer included, and must not block.
  using Done = UniqueFunction<void(Status)>;
  void Add(kv::Revision revision, Done done, std::chrono::milliseconds wait = kWaitMax);
  // The cache has seen `revision`.
  void Advance(kv::Revision revision);
  void Stop();

 private:
  struct Waiter {
    Clock::Monotonic deadline;
    Done done;
  };
  struct State {
    std::multimap<kv::Revision, Waiter> waiting;
    bool running = false;  // A Tick() is scheduled.
    bool stopped = false;
    Executor::Cancel cancel;
  };
  // kFirst: the caller must schedule Tick(). kNot: `done` is untouched.
  enum class Entered : std::uint8_t { kNot, kFirst, kAnother };
  Entered Enter(kv::Revision revision, Done& done, std::chrono::milliseconds wait);
  void AskSoon();
  // Ends the late waiters, and has the engine asked again for the others.
  void Tick();
  void TickLater();

  const std::shared_ptr<const Cache> cache_;
  Executor* const executor_;
  const std::function<void()> ask_;
  kv::CallGate asking_;
  std::atomic<bool> asked_{false};  // A task that calls ask_() is scheduled.
  std::atomic<std::size_t> count_{0};
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::cacher
