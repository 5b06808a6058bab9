#pragma once  // Library-internal: other rooms include this header.

#include <atomic>
#include <cstdint>
#include <utility>

namespace apiserver::inline v0::storage::kv {

// Counts the running calls of an engine; Stop() shuts it once and waits for them.
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
  // Refuses calls from now on and waits until all running ones have ended. Idempotent; must not be
  // called from within a call.
  void Shut();
  bool shut() const { return (state_.load(std::memory_order_acquire) & kShut) != 0; }

 private:
  static constexpr std::uint64_t kShut = 1ULL << 63;
  void Leave();

  std::atomic<std::uint64_t> state_ = 0;  // The number of calls, and kShut.
};

}  // namespace apiserver::inline v0::storage::kv
