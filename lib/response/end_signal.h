#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::response {

// Wakes a stream whose Context is cancelled: at its timeout, when the server drains or the peer is
// gone.
class EndSignal {
 public:
  explicit EndSignal(const Context& ctx)
      : registration_(ctx.OnDone([this] { waker_.Lock()->Wake(); })) {}
  void Arm(const Waker& waker) { *waker_.Lock() = waker; }

 private:
  Guarded<Waker> waker_;
  Context::Registration registration_;
};

}  // namespace apiserver::inline v0::response
