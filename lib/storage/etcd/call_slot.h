#pragma once

#include <memory>
#include <utility>

#include "apiserver/base/sync.h"
#include "storage/etcd/rpc.h"

namespace apiserver::inline v0::storage::etcd {

// The call that some work of several calls is waiting for, so that it can be cancelled. One call
// follows the other, but the next may be made before the one that made the last has returned.
class CallSlot {
 public:
  // `make` makes the next call and returns it, or null if there is none.
  template <class Make>
  void Run(Make make) {
    const int number = ++state_.Lock()->made;
    std::shared_ptr<RpcCall> call = make();
    if (call == nullptr) return;
    {
      auto state = state_.Lock();
      if (number == state->made) state->call = call;
      if (!state->cancelled) return;
    }
    call->Cancel();
  }
  void Cancel() {
    std::shared_ptr<RpcCall> call;
    {
      auto state = state_.Lock();
      state->cancelled = true;
      call = std::move(state->call);
    }
    if (call != nullptr) call->Cancel();
  }
  bool cancelled() const { return state_.Lock()->cancelled; }

 private:
  struct State {
    int made = 0;
    bool cancelled = false;
    std::shared_ptr<RpcCall> call;
  };
  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::storage::etcd
