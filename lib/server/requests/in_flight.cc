#include "server/requests/in_flight.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"

namespace apiserver::v0::server {

namespace {

constexpr std::uint64_t kKindBits = 3;
constexpr std::size_t kEndsPerSecondMin = 200;
constexpr std::chrono::milliseconds kEndsTick(10);

Status ShuttingDown() { return {Reason::kServiceUnavailable, "the server is shutting down"}; }

}  // namespace

std::uint64_t InFlight::Enter(const Context& ctx, Kind kind) {
  auto state = state_.Lock();
  if (state->sealed) return 0;
  if (kind == Kind::kLong && state->refuses_long) return 0;
  if (kind == Kind::kShort && state->refuses_short) return 0;
  // The lowest bits of an id are free for its kind.
  state->last_id += kKindBits + 1;
  if (kind == Kind::kShort) ++state->short_running;
  if (kind == Kind::kProbe) ++state->probes;
  if (kind == Kind::kLong) state->long_running.emplace(state->last_id, ctx);
  return state->last_id | static_cast<std::uint64_t>(kind);
}

std::uint64_t InFlight::Prolong(std::uint64_t id, const Context& ctx) {
  if (static_cast<Kind>(id & kKindBits) != Kind::kShort) return id;
  bool refused = false;
  {
    auto state = state_.Lock();
    --state->short_running;
    state->long_running.emplace(id & ~kKindBits, ctx);
    refused = state->refuses_long;
  }
  if (refused) ctx.Cancel(ShuttingDown());
  return (id & ~kKindBits) | static_cast<std::uint64_t>(Kind::kLong);
}

void InFlight::Leave(std::uint64_t id) {
  // Contexts are destroyed without the lock: their values may be large.
  std::unordered_map<std::uint64_t, Context>::node_type left;
  {
    auto state = state_.Lock();
    switch (static_cast<Kind>(id & kKindBits)) {
      case Kind::kShort:
        --state->short_running;
        break;
      case Kind::kProbe:
        --state->probes;
        break;
      case Kind::kLong:
        left = state->long_running.extract(id & ~kKindBits);
        break;
    }
  }
  state_.NotifyAll();
}

std::size_t InFlight::EndsPerSecond(std::size_t count, std::chrono::milliseconds grace) {
  const auto of_grace =
      count * 1000 / static_cast<std::size_t>(std::max<std::int64_t>(grace.count(), 1));
  return std::max(of_grace, kEndsPerSecondMin);
}

void InFlight::EndLongRunning(std::chrono::milliseconds grace,
                              const std::function<void()>& on_step) {
  // Contexts are cancelled without the lock: a request that ends calls Leave().
  std::vector<Context> running;
  {
    auto state = state_.Lock();
    state->refuses_long = true;
    running.reserve(state->long_running.size());
    for (const auto& [id, ctx] : state->long_running) running.push_back(ctx);
  }
  std::size_t at_once = running.size();
  if (grace.count() > 0) {
    at_once =
        std::max<std::size_t>(EndsPerSecond(running.size(), grace) * kEndsTick.count() / 1000, 1);
  }
  // However many there are, the grace is kept: what is left after it ends at once.
  const Clock::Monotonic until = RealClock().Now() + grace;
  for (std::size_t i = 0; i < running.size(); ++i) {
    if (i > 0 && i % at_once == 0 && RealClock().Now() < until) {
      Notification never;
      (void)never.WaitFor(kEndsTick);
      if (on_step) on_step();
    }
    running[i].Cancel(ShuttingDown());
  }
}

void InFlight::Close() {
  state_.Lock()->refuses_short = true;
  EndLongRunning(std::chrono::milliseconds(0));
}

void InFlight::Seal(std::chrono::milliseconds longest) {
  auto state = state_.Lock();
  // New ones are refused before this waits, so the wait ends.
  state->sealed = true;
  (void)state.WaitUntil(RealClock().Now() + longest, [&state] { return state->probes == 0; });
}

bool InFlight::WaitUntilEmpty(std::chrono::milliseconds longest) {
  auto state = state_.Lock();
  return state.WaitUntil(RealClock().Now() + longest, [&state] {
    return state->short_running == 0 && state->long_running.empty();
  });
}

InFlight::Left InFlight::left() const {
  auto state = state_.Lock();
  return {.watches = state->long_running.size(), .requests = state->short_running};
}

std::string InFlight::Left::ToString() const {
  const auto count = [](std::size_t number, const char* one, const char* many) {
    return number == 0 ? "" : std::to_string(number) + (number == 1 ? one : many);
  };
  std::string text = count(watches, " watch", " watches");
  const std::string rest = count(requests, " request", " requests");
  if (!text.empty() && !rest.empty()) text += ", ";
  return text + rest;
}

}  // namespace apiserver::v0::server
