#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/function.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::server {

// Runs one health check on a pool, at most once at a time, and gives it up after a timeout.
// Requests that come while it runs share its outcome. A run that is overdue has failed, for later
// requests too, until the check returns: one that hangs costs one thread, however often it is
// asked. Any thread.
class HealthProbe : public std::enable_shared_from_this<HealthProbe> {
 public:
  using Check = std::function<Status(const Context&)>;
  using Done = UniqueFunction<void(const Status&)>;
  struct Options {
    // Null: the check only looks at memory, and runs on the caller's thread.
    Executor* pool = nullptr;
    std::chrono::milliseconds timeout = std::chrono::milliseconds(0);
    Context running = Context::Background();  // Cancelled when the server stops.
  };

  HealthProbe(Check check, Options options);

  // Calls `done` once, on any thread, perhaps before this returns; `done` must not block.
  void Ask(Done done);

 private:
  struct Run;
  class Ticket;

  void Begin(const std::shared_ptr<Run>& run);
  void End(Run& run, const Status& outcome);
  void GiveUp(Run& run);
  // Returns the outcome of the check, also if it throws.
  Status Call(const Context& ctx) const;

  const Check check_;
  const Options options_;
  Guarded<std::shared_ptr<Run>> run_;  // Null: no run is going on.
};

}  // namespace apiserver::inline v0::server
