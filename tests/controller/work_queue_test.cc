// Tests of the keys that a work queue gives out, their order and their time, step by step.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/controller/work_queue.h"
#include "base/manual.h"
#include "controller/support.h"

namespace controller_test {
namespace {

using namespace apiserver;
using controller::NamespacedName;
using controller::NewWorkQueue;
using controller::WorkQueue;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("controller: a key that waits is added once, and keys come in order", "[controller]") {
  const auto queue = NewWorkQueue();
  queue->Add({"a", "x"});
  queue->Add({"", "node"});
  queue->Add({"a", "x"});

  CHECK(queue->size() == 2);
  CHECK(TakeAll(*queue) == "a/x node");
  CHECK(queue->size() == 0);
  queue->Add({"a", "x"});
  CHECK(TakeAll(*queue) == "a/x");
}

TEST_CASE("controller: a key that is worked on follows when that is done", "[controller]") {
  const auto queue = NewWorkQueue();
  queue->Add({"a", "x"});
  const auto taken = queue->Get();
  REQUIRE(taken == NamespacedName{"a", "x"});
  queue->Add({"a", "x"});
  queue->Add({"a", "x"});

  CHECK(queue->size() == 0);
  CHECK_FALSE(queue->TryGet());
  queue->Done(*taken);
  CHECK(TakeAll(*queue) == "a/x");
  // A Done() without a Get() changes nothing.
  queue->Done(*taken);
  CHECK(TakeAll(*queue).empty());
}

TEST_CASE("controller: a delay ends at its time, the first of several counts", "[controller]") {
  testing::ManualClock clock;
  const auto queue = NewWorkQueue({.clock = &clock});
  queue->AddAfter({"a", "late"}, seconds(3));
  queue->AddAfter({"a", "early"}, seconds(1));
  queue->AddAfter({"a", "sooner"}, seconds(5));
  queue->AddAfter({"a", "sooner"}, seconds(2));
  queue->AddAfter({"a", "sooner"}, seconds(9));
  queue->AddAfter({"a", "now"}, seconds(0));

  CHECK(TakeAll(*queue) == "a/now");
  clock.Advance(seconds(1));
  CHECK(TakeAll(*queue) == "a/early");
  clock.Advance(milliseconds(999));
  CHECK(TakeAll(*queue).empty());
  clock.Advance(seconds(2));
  CHECK(TakeAll(*queue) == "a/sooner a/late");
  clock.Advance(seconds(100));
  CHECK(TakeAll(*queue).empty());
}

TEST_CASE("controller: a key that fails waits longer each time, until it succeeds",
          "[controller]") {
  testing::ManualClock clock;
  const auto queue = NewWorkQueue({.clock = &clock});
  for (const int wait : {5, 10, 20}) {
    queue->AddRateLimited({"a", "x"});
    clock.Advance(milliseconds(wait - 1));
    CHECK_FALSE(queue->TryGet());
    clock.Advance(milliseconds(1));
    CHECK(TakeAll(*queue) == "a/x");
  }
  CHECK(queue->Requeues({"a", "x"}) == 3);
  queue->Forget({"a", "x"});
  CHECK(queue->Requeues({"a", "x"}) == 0);
  queue->AddRateLimited({"a", "x"});
  clock.Advance(milliseconds(5));
  CHECK(TakeAll(*queue) == "a/x");
}

TEST_CASE("controller: workers that wait are woken by a key, by a delay and by the end",
          "[controller]") {
  const auto queue = NewWorkQueue();
  Guarded<std::vector<std::string>> taken;
  std::vector<Thread> workers;
  for (int i = 0; i < 3; ++i) {
    workers.emplace_back("worker", [&] {
      while (const auto key = queue->Get()) {
        taken.Lock()->push_back(key->name);
        taken.NotifyAll();
        queue->Done(*key);
      }
    });
  }
  const auto await = [&](std::size_t count) {
    auto names = taken.Lock();
    return names.WaitUntil(RealClock().Now() + kPatience, [&] { return names->size() >= count; });
  };

  queue->Add({"", "first"});
  CHECK(await(1));
  // The later delay is waited for when the earlier one comes.
  queue->AddAfter({"", "third"}, milliseconds(60));
  queue->AddAfter({"", "second"}, milliseconds(10));
  CHECK(await(3));
  queue->AddAfter({"", "never"}, std::chrono::hours(1));
  queue->ShutDown();
  for (Thread& worker : workers) worker.Join();
  CHECK(*taken.Lock() == std::vector<std::string>{"first", "second", "third"});
}

TEST_CASE("controller: while one worker works, another waits for the next delay", "[controller]") {
  const auto queue = NewWorkQueue();
  Notification second_taken;
  bool in_time = false;
  std::vector<Thread> workers;
  for (int i = 0; i < 2; ++i) {
    workers.emplace_back("worker", [&] {
      while (const auto key = queue->Get()) {
        if (key->name == "first") in_time = second_taken.WaitFor(kPatience);
        if (key->name == "second") second_taken.Notify();
        queue->Done(*key);
      }
    });
  }
  // Both workers wait by then, most likely.
  Notification().WaitFor(milliseconds(5));
  queue->AddAfter({"", "first"}, milliseconds(5));
  queue->AddAfter({"", "second"}, milliseconds(20));
  CHECK(second_taken.WaitFor(kPatience));
  queue->ShutDownWithDrain();
  for (Thread& worker : workers) worker.Join();
  CHECK(in_time);
}

TEST_CASE("controller: a queue that is shut down gives out what waits, and takes nothing",
          "[controller]") {
  const auto queue = NewWorkQueue();
  queue->Add({"", "waits"});
  queue->AddAfter({"", "delayed"}, milliseconds(1));
  CHECK_FALSE(queue->shutting_down());
  queue->ShutDown();
  CHECK(queue->shutting_down());
  queue->Add({"", "late"});
  queue->AddAfter({"", "late"}, seconds(0));

  const auto key = queue->Get();
  REQUIRE(key == NamespacedName{"", "waits"});
  CHECK_FALSE(queue->Get());
  queue->Done(*key);
  CHECK_FALSE(queue->Get());
}

TEST_CASE("controller: a drain waits for the workers, unless it is shut down", "[controller]") {
  const auto queue = NewWorkQueue();
  queue->Add({"", "taken"});
  queue->Add({"", "waits"});
  const auto taken = queue->Get();
  queue->Add({"", "taken"});
  Notification drained;
  Thread drainer("drainer", [&] {
    queue->ShutDownWithDrain();
    drained.Notify();
  });
  while (!queue->shutting_down()) Notification().WaitFor(milliseconds(1));

  SECTION("workers finish") {
    CHECK_FALSE(drained.WaitFor(milliseconds(20)));
    queue->Done(*taken);
    CHECK_FALSE(drained.WaitFor(milliseconds(20)));
    for (int i = 0; i < 2; ++i) {
      const auto key = queue->Get();
      REQUIRE(key);
      queue->Done(*key);
    }
    CHECK_FALSE(queue->Get());
  }
  SECTION("it is shut down at once") { queue->ShutDown(); }
  CHECK(drained.WaitFor(kPatience));
}

TEST_CASE("controller: a queue counts under client-go's names", "[controller]") {
  testing::ManualClock clock;
  const auto registry = metrics::NewRegistry();
  const auto queue = NewWorkQueue({.name = "pets", .metrics = registry.get(), .clock = &clock});
  queue->Add({"a", "x"});
  queue->Add({"a", "x"});
  queue->Add({"a", "y"});
  clock.Advance(seconds(2));
  const auto x = queue->Get();
  const auto y = queue->Get();
  clock.Advance(seconds(3));
  queue->Done(*x);
  queue->AddAfter(*x, seconds(9));
  clock.Advance(seconds(4));

  const std::string text = registry->Serialize();
  for (const char* line :
       {"workqueue_depth{name=\"pets\"} 0", "workqueue_adds_total{name=\"pets\"} 2",
        "workqueue_queue_duration_seconds_sum{name=\"pets\"} 4",
        "workqueue_queue_duration_seconds_count{name=\"pets\"} 2",
        "workqueue_queue_duration_seconds_bucket{name=\"pets\",le=\"1\"} 0",
        "workqueue_work_duration_seconds_sum{name=\"pets\"} 3",
        "workqueue_work_duration_seconds_count{name=\"pets\"} 1",
        "workqueue_retries_total{name=\"pets\"} 1",
        "workqueue_unfinished_work_seconds{name=\"pets\"} 7",
        "workqueue_longest_running_processor_seconds{name=\"pets\"} 7"}) {
    INFO(line << "\n" << text);
    CHECK(text.find(std::string(line) + "\n") != std::string::npos);
  }
  queue->Done(*y);
}

}  // namespace
}  // namespace controller_test
