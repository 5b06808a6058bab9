#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "storage/forwarding_engine.h"

namespace apiserver::inline v0::testing {

// While it holds, asynchronous writes wait until they are released; all else goes through.
class HeldEngine final : public ForwardingEngine {
 public:
  using Done = UniqueFunction<void(Result<apiserver::storage::kv::TxnResponse>)>;
  using ForwardingEngine::ForwardingEngine;

  void TxnAsync(const Context& ctx, apiserver::storage::kv::TxnRequest request,
                Done done) override {
    if (auto state = state_.Lock(); state->holds) {
      state->held.push_back({ctx, std::move(request), std::move(done)});
      return state_.NotifyAll();
    }
    ForwardingEngine::TxnAsync(ctx, std::move(request), std::move(done));
  }

  void Hold() { state_.Lock()->holds = true; }
  // Waits until so many writes are held. False: they do not come.
  bool WaitFor(std::size_t writes) {
    auto state = state_.Lock();
    return state.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                           [&] { return state->held.size() >= writes; });
  }
  // Makes the held writes, and holds no more.
  void Release() {
    for (Held& held : Take()) {
      ForwardingEngine::TxnAsync(held.ctx, std::move(held.request), std::move(held.done));
    }
  }
  // Answers the held writes with an error, and holds no more.
  void Fail(const Status& why) {
    for (Held& held : Take()) held.done(why);
  }

 private:
  struct Held {
    Context ctx;
    apiserver::storage::kv::TxnRequest request;
    Done done;
  };
  struct State {
    bool holds = false;
    std::vector<Held> held;
  };

  std::vector<Held> Take() {
    auto state = state_.Lock();
    state->holds = false;
    return std::exchange(state->held, {});
  }

  Guarded<State> state_;
};

}  // namespace apiserver::inline v0::testing
