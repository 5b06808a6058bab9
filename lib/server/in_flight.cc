#include "server/in_flight.h"

#include <utility>
#include <vector>

#include "apiserver/base/clock.h"

namespace apiserver::inline v0::server {

std::uint64_t InFlight::Enter(const Context& ctx, bool long_running) {
  auto state = state_.Lock();
  if (state->closed) return 0;
  state->last_id += 2;
  if (!long_running) {
    ++state->short_running;
    return state->last_id + 1;
  }
  state->long_running.emplace(state->last_id, ctx);
  return state->last_id;
}

void InFlight::Leave(std::uint64_t id) {
  // Contexts are destroyed without the lock: their values may be large.
  std::unordered_map<std::uint64_t, Context>::node_type left;
  {
    auto state = state_.Lock();
    if (id % 2 == 1) {
      --state->short_running;
    } else {
      left = state->long_running.extract(id);
    }
  }
  state_.NotifyAll();
}

void InFlight::Close() {
  std::vector<Context> running;
  {
    auto state = state_.Lock();
    state->closed = true;
    for (const auto& [id, ctx] : state->long_running) running.push_back(ctx);
  }
  for (const Context& ctx : running) {
    ctx.Cancel({Reason::kServiceUnavailable, "the server is shutting down"});
  }
}

bool InFlight::WaitUntilEmpty(std::chrono::milliseconds longest) {
  auto state = state_.Lock();
  return state.WaitUntil(RealClock().Now() + longest, [&state] {
    return state->short_running == 0 && state->long_running.empty();
  });
}

std::size_t InFlight::size() const {
  auto state = state_.Lock();
  return state->short_running + state->long_running.size();
}

}  // namespace apiserver::inline v0::server
