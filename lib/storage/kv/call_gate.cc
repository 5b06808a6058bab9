#include "storage/kv/call_gate.h"

namespace apiserver::v0::storage::kv {

// A call counts itself before it looks: either it sees that the gate is shut, or Shut() sees it.
CallGate::Pass CallGate::Enter() {
  const std::uint64_t before = state_.fetch_add(1, std::memory_order_acquire);
  if ((before & kShut) == 0) return Pass(this);
  Leave();
  return Pass(nullptr);
}

void CallGate::Leave() {
  if (state_.fetch_sub(1, std::memory_order_acq_rel) == (kShut | 1)) state_.notify_all();
}

void CallGate::Shut() {
  std::uint64_t now = state_.fetch_or(kShut, std::memory_order_acq_rel) | kShut;
  while (now != kShut) {
    state_.wait(now, std::memory_order_acquire);
    now = state_.load(std::memory_order_acquire);
  }
}

}  // namespace apiserver::v0::storage::kv
