#pragma once  // Library-internal: other rooms include this header.

#include <atomic>
#include <cstdint>
#include <utility>

namespace apiserver::inline v0::storage::kv {

// Counts the calls that are running, and is shut once: how an engine's Stop() waits for them.
class CallGate {
 public:
  // One running call; false if the gate was shut before it.
  class [[nodiscard]] Pass {
   public:
    explicit Pass(CallGate* gate) : gate_(gate) {}
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&&) = delete;
    ~Pass() {
      if (gate_ != nullptr) gate_->Leave();
    }
    explicit operator bool() const { return gate_ != nullptr; }

   private:
    CallGate* gate_;
  };

  Pass Enter();
  // Lets nobody in from now on and waits until all have left. Idempotent; must not be called from
  // within a call.
  void Shut();
  bool shut() const { return (state_.load(std::memory_order_acquire) & kShut) != 0; }

 private:
  static constexpr std::uint64_t kShut = 1ULL << 63;
  void Leave();

  std::atomic<std::uint64_t> state_ = 0;  // Calls, and kShut.
};

}  // namespace apiserver::inline v0::storage::kv
