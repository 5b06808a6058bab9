#include "apiserver/auth/look_up.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace apiserver::v0::auth {

bool LookUp::done() const { return state_.Lock()->done; }

void LookUp::OnDone(UniqueFunction<void()> callback) {
  {
    const auto state = state_.Lock();
    if (!state->done) {
      state->callbacks.push_back(std::move(callback));
      return;
    }
  }
  callback();
}

Status LookUp::Wait(const Context& ctx) {
  struct Outcome {
    Notification over;
  };
  const auto outcome = std::make_shared<Outcome>();
  OnDone([outcome] { outcome->over.Notify(); });
  const auto given_up = ctx.OnDone([outcome] { outcome->over.Notify(); });
  outcome->over.Wait();
  if (done()) return {};
  return {Reason::kTimeout, "the request ended before the look-up did"};
}

// Callbacks run without the lock, since they may use this look-up.
void LookUp::Finish() {
  std::vector<UniqueFunction<void()>> callbacks;
  {
    const auto state = state_.Lock();
    state->done = true;
    callbacks = std::exchange(state->callbacks, {});
  }
  for (auto& callback : callbacks) callback();
}

LookUp* Waiting::Find(const void* owner, std::string_view key) const {
  for (const auto& look_up : look_ups_) {
    if (look_up->owner() == owner && look_up->key() == key) return look_up.get();
  }
  return nullptr;
}

bool Waiting::FirstReport(const void* owner, std::string_view key) {
  for (const auto& [who, what] : reported_) {
    if (who == owner && what == key) return false;
  }
  reported_.emplace_back(owner, key);
  return true;
}

bool Waiting::pending() const {
  return std::any_of(look_ups_.begin(), look_ups_.end(),
                     [](const auto& look_up) { return !look_up->done(); });
}

void Waiting::OnAll(UniqueFunction<void()> callback) const {
  struct Rest {
    std::atomic<std::size_t> open;
    UniqueFunction<void()> callback;
  };
  // One more than there are, so that `callback` does not run before the loop ends.
  const auto rest = std::make_shared<Rest>();
  rest->open = look_ups_.size() + 1;
  rest->callback = std::move(callback);
  const auto one_less = [rest] {
    if (rest->open.fetch_sub(1) == 1) rest->callback();
  };
  for (const auto& look_up : look_ups_) look_up->OnDone(one_less);
  one_less();
}

}  // namespace apiserver::v0::auth
