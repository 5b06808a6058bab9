#include "apiserver/base/executor.h"

#include <catch2/catch.hpp>

#include "base/manual.h"

namespace apiserver::inline v0 {
namespace {

class Counting final : public Wakeable {
 public:
  void OnWake() override { ++wakes; }
  int wakes = 0;
};

TEST_CASE("base: a Waker wakes its target on the target's executor", "[base]") {
  testing::ManualExecutor home;
  const auto target = std::make_shared<Counting>();

  Waker(home, target).Wake();

  CHECK(target->wakes == 0);
  home.Drain();
  CHECK(target->wakes == 1);
}

TEST_CASE("base: an empty Waker and one whose target is gone wake nobody", "[base]") {
  testing::ManualExecutor home;
  auto target = std::make_shared<Counting>();
  const Waker waker(home, target);

  Waker().Wake();
  waker.Wake();
  target.reset();
  home.Drain();

  CHECK(Waker().empty());
  CHECK(home.posts == 1);
}

TEST_CASE("base: WakeAll posts once per executor and wakes every target", "[base]") {
  testing::ManualExecutor one;
  testing::ManualExecutor two;
  std::vector<std::shared_ptr<Counting>> targets;
  std::vector<Waker> wakers = {Waker()};
  for (int i = 0; i < 10; ++i) {
    targets.push_back(std::make_shared<Counting>());
    wakers.emplace_back(i % 2 == 0 ? one : two, targets.back());
  }

  Waker::WakeAll(wakers);
  one.Drain();
  two.Drain();

  CHECK(one.posts == 1);
  CHECK(two.posts == 1);
  for (const auto& target : targets) CHECK(target->wakes == 1);
}

}  // namespace
}  // namespace apiserver::inline v0
