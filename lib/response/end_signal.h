#pragma once

#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"

namespace apiserver::inline v0::response {

// Wakes a stream whose Context is cancelled: at its timeout, when the server drains or the peer is
// gone.
class EndSignal {
 public:
  // Call it before the stream waits for the first time; later calls do nothing, as a stream is
  // woken in one way all its life. Wakes at once if the Context is cancelled already.
  void Arm(const Context& ctx, const Waker& waker) {
    if (armed_) return;
    armed_ = true;
    registration_ = ctx.OnDone([waker] { waker.Wake(); });
  }

 private:
  Context::Registration registration_;
  bool armed_ = false;
};

}  // namespace apiserver::inline v0::response
