#include "apiserver/base/executor.h"

#include <algorithm>
#include <utility>

namespace apiserver::v0 {
namespace {

void WakeTarget(const std::weak_ptr<Wakeable>& target) {
  if (const auto alive = target.lock()) alive->OnWake();
}

}  // namespace

void Waker::Wake() const {
  // A live target keeps its executor alive; without one the executor may be gone. The reference is
  // handed on, as this thread must not be the one that destroys the target.
  auto alive = target_.lock();
  if (alive == nullptr) return;
  Executor& home = *home_;
  home.Post([alive = std::move(alive)] { alive->OnWake(); });
}

// Posts one task per executor instead of one per waker, for an event that wakes many watches.
void Waker::WakeAll(std::span<const Waker> wakers) {
  struct Group {
    Executor* home;
    std::shared_ptr<Wakeable> alive;  // Keeps `home`; see Wake.
    std::vector<std::weak_ptr<Wakeable>> targets;
  };
  std::vector<Group> groups;  // One for each loop: a handful.
  for (const Waker& waker : wakers) {
    if (waker.empty()) continue;
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.home == waker.home_; });
    if (group == groups.end()) {
      auto alive = waker.target_.lock();
      if (alive == nullptr) continue;
      group = groups.insert(groups.end(), Group{waker.home_, std::move(alive), {}});
    }
    group->targets.push_back(waker.target_);
  }
  for (Group& group : groups) {
    group.home->Post([alive = std::move(group.alive), targets = std::move(group.targets)] {
      for (const auto& target : targets) WakeTarget(target);
    });
  }
}

}  // namespace apiserver::v0
