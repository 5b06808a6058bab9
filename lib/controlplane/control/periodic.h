#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::controlplane {

// Does a step over and over, never two at once: wait.Until of apimachinery. Any thread.
class Periodic final : public std::enable_shared_from_this<Periodic> {
 public:
  // Returns how long to pause until the next step. May block until `ctx` is done.
  using Step = std::function<std::chrono::milliseconds(const Context& ctx)>;

  explicit Periodic(Step step) : step_(std::move(step)) {}

  // Does the first step on this thread, and the others on `executor`, which must outlive Stop().
  void Start(Executor& executor);
  // Cancels the step that runs and waits for it; no other one begins. Idempotent.
  void Stop();

 private:
  void Run();

  const Step step_;
  const Context ctx_ = Context::Child(Context::Background());
  Executor* executor_ = nullptr;
  Guarded<bool> running_{false};  // Locked during a step.
};

}  // namespace apiserver::inline v0::controlplane
