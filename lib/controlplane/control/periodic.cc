#include "controlplane/control/periodic.h"

namespace apiserver::v0::controlplane {

void Periodic::Start(Executor& executor) {
  executor_ = &executor;
  Run();
}

void Periodic::Stop() {
  ctx_.Cancel({Reason::kServiceUnavailable, "the server stops"});
  (void)running_.Lock();  // Waits for the step that runs.
}

// The timer holds no reference, so that a long pause keeps nothing alive.
void Periodic::Run() {
  const auto running = running_.Lock();
  if (ctx_.done()) return;
  const std::chrono::milliseconds pause = step_(ctx_);
  (void)executor_->PostAfter(pause, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->Run();
  });
}

}  // namespace apiserver::v0::controlplane
