#pragma once

#include <chrono>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::testing::storage {

// Blocks a thread until it is woken: runs tasks immediately on the thread that posts them, and
// remembers one wake-up.
class Bell final : public Executor, public Wakeable {
 public:
  void Post(Task task) override { task(); }
  Cancel PostAfter(std::chrono::nanoseconds, Task) override { return nullptr; }
  bool may_block() const override { return false; }
  bool Inside() const override { return true; }
  void OnWake() override {
    *rung_.Lock() = true;
    rung_.NotifyAll();
  }
  // Waits for a wake-up since the last call, for up to `patience`. False: there was none.
  bool Wait(std::chrono::milliseconds patience) {
    auto rung = rung_.Lock();
    const bool seen = rung.WaitUntil(RealClock().Now() + patience, [&rung] { return *rung; });
    *rung = false;
    return seen;
  }

 private:
  Guarded<bool> rung_{false};
};

}  // namespace apiserver::inline v0::testing::storage
