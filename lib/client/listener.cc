#include "client/listener.h"

#include <iterator>
#include <utility>

#include "apiserver/base/clock.h"

namespace apiserver::v0::client {

using runtime::ObjectPtr;
using std::chrono::steady_clock;

Listener::Listener(InformerHandler handler, std::chrono::milliseconds resync_period)
    : handler_(std::move(handler)), resync_period_(resync_period) {}

void Listener::Add(const Step& step) {
  {
    const auto state = state_.Lock();
    if (state->stopped) return;
    if (const auto found = state->by_key.find(step.key); found != state->by_key.end()) {
      return Merge(*state, found->second, step);
    }
    state->changes.push_back(
        {.key = step.key, .before = step.before, .gone = step.gone, .now = step.now});
    state->by_key.emplace(step.key, std::prev(state->changes.end()));
  }
  state_.NotifyOne();
}

void Listener::Merge(State& state, Changes::iterator found, const Step& step) {
  if (step.before == step.now) return;
  found->now = step.now;
  if (step.now != nullptr) return;
  if (found->before == nullptr) {
    // The handler never heard of it.
    state.by_key.erase(step.key);
    state.changes.erase(found);
  } else if (found->before->uid() == step.gone->uid()) {
    found->gone = step.gone;
  }
}

void Listener::AddSyncMark() {
  {
    const auto state = state_.Lock();
    if (state->stopped) return;
    state->changes.push_back({.key = {}, .sync_mark = true});
  }
  state_.NotifyOne();
}

void Listener::Start(std::function<void()> resync) {
  thread_ = Thread("handler", [this, resync = std::move(resync)] { Run(resync); });
}

void Listener::Stop() {
  state_.Lock()->stopped = true;
  state_.NotifyAll();
}

void Listener::Run(const std::function<void()>& resync) {
  own_thread_ = std::this_thread::get_id();
  const auto next = [this] {
    return resync_period_.count() > 0 ? RealClock().Now() + resync_period_
                                      : steady_clock::time_point::max();
  };
  auto resync_at = next();
  Changes taken;
  while (Take(taken, resync_at)) {
    if (RealClock().Now() >= resync_at) {
      resync();
      resync_at = next();
    }
    for (const Change& change : taken) Tell(change);
    taken.clear();
  }
  ended_.Notify();
}

bool Listener::Take(Changes& taken, steady_clock::time_point resync_at) {
  auto state = state_.Lock();
  const auto ready = [&] { return state->stopped || !state->changes.empty(); };
  if (resync_at == steady_clock::time_point::max()) {
    state.Wait(ready);  // A wait until then would overflow.
  } else {
    state.WaitUntil(resync_at, ready);
  }
  if (state->stopped) return false;
  if (state->changes.empty()) return true;
  state->by_key.erase(state->changes.front().key);
  taken.splice(taken.end(), state->changes, state->changes.begin());
  return true;
}

void Listener::Tell(const Change& change) {
  const auto& [key, before, gone, now, sync_mark] = change;
  if (sync_mark) return synced_.Notify();
  const bool other = before && now && before->uid() != now->uid();
  if (before && (!now || other) && handler_.on_delete) handler_.on_delete(gone ? gone : before);
  if (now && (!before || other) && handler_.on_add) handler_.on_add(now);
  if (before && now && !other && handler_.on_update) handler_.on_update(before, now);
}

}  // namespace apiserver::v0::client
