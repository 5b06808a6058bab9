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

// Runs each task on a thread of its own, before Post() returns.
class Elsewhere final : public Executor {
 public:
  void Post(Task task) override {
    Thread thread("elsewhere", [&task] {
      task();
      task = nullptr;
    });
    thread.Join();
  }
  Cancel PostAfter(std::chrono::nanoseconds, Task) override {
    return [] {};
  }
  bool may_block() const override { return true; }
  bool Inside() const override { return false; }
};

// Owns itself until it is woken, and tells which thread destroyed it.
struct Ending final : Wakeable {
  explicit Ending(std::thread::id& ended_on) : ended_on(ended_on) {}
  ~Ending() override { ended_on = std::this_thread::get_id(); }
  void OnWake() override { self.reset(); }
  std::thread::id& ended_on;
  std::shared_ptr<Ending> self;
};

// An exchange that is woken by another server's loop must end on its own.
TEST_CASE("base: the thread that wakes is not the one that destroys", "[base]") {
  const bool all = GENERATE(false, true);
  Elsewhere home;
  std::thread::id ended_on;
  auto target = std::make_shared<Ending>(ended_on);
  target->self = target;
  const std::vector<Waker> wakers = {Waker(home, target)};
  target.reset();

  all ? Waker::WakeAll(wakers) : wakers.front().Wake();

  CHECK(ended_on != std::thread::id());
  CHECK(ended_on != std::this_thread::get_id());
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
