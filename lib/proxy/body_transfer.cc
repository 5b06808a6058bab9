#include "proxy/body_transfer.h"

#include <utility>

namespace apiserver::v0::proxy {
namespace {

// The bytes that wait for a slow client before its backend is held back. The transport keeps one
// window more.
constexpr std::size_t kWaitingBytes = 256 << 10;

}  // namespace

BodyTransfer::~BodyTransfer() {
  const std::size_t left = state_.Lock()->waiting.size();
  if (memory_ && left > 0) memory_->output.Release(left, tenant_);
}

void BodyTransfer::Push(std::string_view bytes, http::ReadStream& from) {
  if (memory_) memory_->output.Add(bytes.size(), tenant_);
  auto state = state_.Lock();
  state->waiting.append(bytes);
  if (state->waiting.size() >= kWaitingBytes && !std::exchange(state->paused, true)) from.Pause();
  std::exchange(state->waker, Waker()).Wake();
}

void BodyTransfer::End(const Status& status) {
  auto state = state_.Lock();
  if (!state->end) state->end = status;
  std::exchange(state->waker, Waker()).Wake();
}

http::Pull BodyTransfer::Next(http::ChunkWriter& out, const Waker& waker, http::ReadStream& from) {
  std::string ready;
  {
    auto state = state_.Lock();
    if (state->waiting.empty()) {
      if (state->end) return state->end->ok() ? http::Pull::kEnd : http::Pull::kAbort;
      state->waker = waker;
      return http::Pull::kWait;
    }
    ready = std::exchange(state->waiting, {});
    if (std::exchange(state->paused, false)) from.Resume();
  }
  if (memory_) memory_->output.Release(ready.size(), tenant_);
  out.Take(std::move(ready));
  return http::Pull::kMore;
}

}  // namespace apiserver::v0::proxy
