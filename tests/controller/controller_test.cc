// Tests that workers reconcile again after errors, not before a sync, and not after a stop.
#include "apiserver/controller/controller.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "apiserver/testing/server/eventually.h"
#include "controller/support.h"

namespace controller_test {
namespace {

using namespace apiserver;
using controller::NamespacedName;
using controller::NewController;
using controller::ReconcileResult;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The keys that were reconciled.
class Turns {
 public:
  int Add(const NamespacedName& key) {
    auto keys = keys_.Lock();
    keys->push_back(key.ToString());
    keys_.NotifyAll();
    return static_cast<int>(keys->size());
  }
  bool Await(std::size_t count) {
    auto keys = keys_.Lock();
    return keys.WaitUntil(RealClock().Now() + kPatience, [&] { return keys->size() >= count; });
  }
  std::vector<std::string> all() { return *keys_.Lock(); }

 private:
  Guarded<std::vector<std::string>> keys_;
};

class SyncedLater final : public client::Informer {
 public:
  void Start() override {}
  void Stop() override {}
  bool HasSynced() const override { return synced.HasBeenNotified(); }
  bool WaitForSync(milliseconds timeout) const override { return synced.WaitFor(timeout); }
  std::string LastResourceVersion() const override { return ""; }
  runtime::ObjectPtr Get(std::string_view, std::string_view) const override { return nullptr; }
  std::vector<runtime::ObjectPtr> List() const override { return {}; }

  Notification synced;
};

// Returns whether the registry serves this line.
bool Has(metrics::Registry& registry, const std::string& line) {
  return ("\n" + registry.Serialize()).find("\n" + line + "\n") != std::string::npos;
}

// Workers are threads, or tasks of a pool.
struct Place {
  Executor* pool() const { return on_pool ? owned.get() : nullptr; }

  const bool on_pool = GENERATE(false, true);
  const std::unique_ptr<ThreadPool> owned = NewThreadPool();
};

TEST_CASE("controller: a key comes again after an error, an exception and when it asks",
          "[controller]") {
  const Place place;
  Turns turns;
  const auto registry = metrics::NewRegistry();
  const auto pets = NewController(
      {.name = "pets",
       .reconcile = [&](const Context&, const NamespacedName& key) -> Result<ReconcileResult> {
         const int turn = turns.Add(key);
         if (turn == 1) return Status(Reason::kConflict, "changed meanwhile");
         if (turn == 2) throw std::runtime_error("broken");
         return ReconcileResult{.requeue_after = turn == 3 ? milliseconds(1) : milliseconds(0)};
       },
       .workers = 3,
       .pool = place.pool(),
       .metrics = registry.get()});
  CHECK(Has(*registry, R"(controller_runtime_reconcile_errors_total{controller="pets"} 0)"));
  pets->Start({});
  pets->queue().Add({"ns", "tom"});

  CHECK(turns.Await(4));
  pets->Stop();
  CHECK(turns.all() == std::vector<std::string>(4, "ns/tom"));
  CHECK(pets->queue().Requeues({"ns", "tom"}) == 0);
  const std::string text = registry->Serialize();
  for (const char* line :
       {R"(controller_runtime_reconcile_total{controller="pets",result="error"} 2)",
        R"(controller_runtime_reconcile_total{controller="pets",result="requeue_after"} 1)",
        R"(controller_runtime_reconcile_total{controller="pets",result="success"} 1)",
        R"(controller_runtime_reconcile_errors_total{controller="pets"} 2)",
        R"(controller_runtime_reconcile_panics_total{controller="pets"} 1)",
        R"(controller_runtime_reconcile_time_seconds_count{controller="pets"} 4)",
        R"(controller_runtime_active_workers{controller="pets"} 0)",
        R"(controller_runtime_max_concurrent_reconciles{controller="pets"} 3)",
        R"(workqueue_adds_total{name="pets"} 4)"}) {
    INFO(line << "\n" << text);
    CHECK(text.find(std::string(line) + "\n") != std::string::npos);
  }
}

TEST_CASE("controller: workers that reconcile are counted, and for how long", "[controller]") {
  const Place place;
  Notification go;
  Turns turns;
  const auto registry = metrics::NewRegistry();
  const auto pets = NewController(
      {.name = "pets",
       .reconcile = [&](const Context&, const NamespacedName& key) -> Result<ReconcileResult> {
         turns.Add(key);
         go.Wait();
         return ReconcileResult{};
       },
       .workers = 2,
       .pool = place.pool(),
       .metrics = registry.get()});
  pets->Start({});
  for (const char* name : {"kit", "tom", "zoe"}) pets->queue().Add({"ns", name});

  REQUIRE(turns.Await(2));
  CHECK(Has(*registry, R"(controller_runtime_active_workers{controller="pets"} 2)"));
  CHECK(!Notification().WaitFor(milliseconds(6)));
  go.Notify();
  REQUIRE(turns.Await(3));
  CHECK(testing::Eventually(
      [&] { return Has(*registry, R"(controller_runtime_active_workers{controller="pets"} 0)"); }));
  // The first two took longer than the first bucket's 5 ms.
  const std::string bucket =
      R"(controller_runtime_reconcile_time_seconds_bucket{controller="pets",)";
  CHECK(!Has(*registry, bucket + R"(le="0.005"} 2)"));
  CHECK(Has(*registry, bucket + R"(le="60"} 3)"));
  pets->Stop();
}

TEST_CASE("controller: workers begin once the informers have synced", "[controller]") {
  const Place place;
  Turns turns;
  SyncedLater informer;
  const auto pets = NewController(
      {.name = "pets",
       .reconcile = [&](const Context&, const NamespacedName& key) -> Result<ReconcileResult> {
         turns.Add(key);
         return ReconcileResult{};
       },
       .workers = 3,
       .pool = place.pool()});
  pets->Start({&informer});
  pets->queue().Add({"ns", "tom"});
  Notification().WaitFor(milliseconds(30));
  CHECK(turns.all().empty());

  SECTION("they do") {
    informer.synced.Notify();
    CHECK(turns.Await(1));
  }
  SECTION("it is stopped before") {
    pets->Stop();
    CHECK(turns.all().empty());
  }
}

TEST_CASE("controller: a stop interrupts reconcilers and drops what waits", "[controller]") {
  const Place place;
  Turns turns;
  const auto pets = NewController(
      {.name = "pets",
       .reconcile = [&](const Context& ctx, const NamespacedName& key) -> Result<ReconcileResult> {
         turns.Add(key);
         Notification cancelled;
         const auto registration = ctx.OnDone([&] { cancelled.Notify(); });
         if (!cancelled.WaitFor(kPatience)) return Status(Reason::kInternalError, "not cancelled");
         return ctx.Err();
       },
       .pool = place.pool()});
  pets->Start({});
  pets->queue().Add({"ns", "tom"});
  pets->queue().Add({"ns", "kit"});
  REQUIRE(turns.Await(1));
  pets->Stop();
  CHECK(turns.all() == std::vector<std::string>{"ns/tom"});
  CHECK(pets->queue().Requeues({"ns", "tom"}) == 0);
  CHECK(pets->queue().size() == 0);
}

TEST_CASE("controller: on a pool as many keys are worked on at a time as there are workers",
          "[controller]") {
  constexpr int kWorkers = 3;
  const auto pool = NewThreadPool({.threads = 8});
  struct {
    std::atomic<int> busy{0};
    std::atomic<int> most{0};
  } seen;
  Turns turns;
  const auto pets = NewController(
      {.name = "pets",
       .reconcile = [&](const Context&, const NamespacedName& key) -> Result<ReconcileResult> {
         const int busy = ++seen.busy;
         for (int most = seen.most; most < busy && !seen.most.compare_exchange_weak(most, busy);) {
         }
         // The others have time to come.
         const auto all = testing::Eventually([&] { return seen.most >= kWorkers; });
         --seen.busy;
         if (!all) return Status(Reason::kTimeout, "the others have not come");
         turns.Add(key);
         return ReconcileResult{};
       },
       .workers = kWorkers,
       .pool = pool.get()});
  for (int i = 0; i < 50; ++i) pets->queue().Add({"ns", std::to_string(i)});
  pets->Start({});
  CHECK(turns.Await(50));
  CHECK(seen.most == kWorkers);
  pets->Stop();
}

// A pool that counts what it is given.
class CountingPool final : public Executor {
 public:
  explicit CountingPool(Executor& pool) : pool_(pool) {}
  void Post(Task task) override {
    ++posts;
    pool_.Post(std::move(task));
  }
  [[nodiscard]] Cancel PostAfter(std::chrono::nanoseconds delay, Task task) override {
    return pool_.PostAfter(delay, std::move(task));
  }
  bool may_block() const override { return pool_.may_block(); }
  bool Inside() const override { return pool_.Inside(); }

  std::atomic<int> posts{0};

 private:
  Executor& pool_;
};

// A worker without work would still take a thread for its look, and the memory of that thread.
TEST_CASE("controller: no more workers come to a pool at the start than keys wait",
          "[controller]") {
  const int keys = GENERATE(0, 2, 40);
  constexpr int kWorkers = 16;
  const auto owned = NewThreadPool();
  CountingPool pool(*owned);
  Turns turns;
  const auto pets = NewController(
      {.name = "pets",
       .reconcile = [&](const Context&, const NamespacedName& key) -> Result<ReconcileResult> {
         turns.Add(key);
         return ReconcileResult{};
       },
       .workers = kWorkers,
       .pool = &pool});
  for (int i = 0; i < keys; ++i) pets->queue().Add({"ns", std::to_string(i)});
  CHECK(pool.posts == 0);

  pets->Start({});

  CHECK(turns.Await(static_cast<std::size_t>(keys)));
  // One task looks whether the informers have synced; a key that is added later has its own.
  const int came = std::min(keys, kWorkers);
  CHECK(testing::Eventually([&] { return pool.posts == 1 + came; }));
  CHECK(testing::Consistently([&] { return pool.posts == 1 + came; }));
  pets->queue().Add({"ns", "late"});
  CHECK(turns.Await(static_cast<std::size_t>(keys) + 1));
  CHECK(pool.posts == 2 + came);
  pets->Stop();
}

TEST_CASE("controller: on a pool no key is lost and none worked on twice at a time",
          "[controller]") {
  constexpr int kKeys = 20;
  constexpr int kAdders = 4;
  constexpr int kAdds = 5'000;
  const auto pool = NewThreadPool();
  struct Seen {
    std::atomic<bool> busy{false};
    std::atomic<int> added{0};
    std::atomic<int> worked{0};  // The adds before the last turn that has ended.
  };
  std::vector<Seen> keys(kKeys);
  std::atomic<int> doubled{0};
  std::atomic<int> turn{0};
  const auto pets = NewController(
      {.name = "pets",
       .reconcile = [&](const Context&, const NamespacedName& key) -> Result<ReconcileResult> {
         Seen& seen = keys[std::stoul(key.name)];
         if (seen.busy.exchange(true)) ++doubled;
         const int added = seen.added;
         const bool fails = ++turn % 5 == 0;
         if (!fails) seen.worked = added;
         seen.busy = false;
         if (fails) return Status(Reason::kConflict, "again");
         return ReconcileResult{};
       },
       .workers = 2,
       .pool = pool.get(),
       .rate_limiter = controller::NewRateLimiter(
           {.base = std::chrono::microseconds(50), .max = milliseconds(2), .per_second = 0})});
  pets->Start({});
  std::vector<Thread> adders;
  for (int adder = 0; adder < kAdders; ++adder) {
    adders.emplace_back("adder", [&] {
      for (int i = 0; i < kAdds; ++i) {
        ++keys[static_cast<std::size_t>(i % kKeys)].added;
        pets->queue().Add({"ns", std::to_string(i % kKeys)});
      }
    });
  }
  for (Thread& adder : adders) adder.Join();
  CHECK(testing::Eventually([&] {
    return std::ranges::all_of(keys, [](const Seen& seen) { return seen.worked == seen.added; });
  }));
  CHECK(doubled == 0);
  pets->Stop();
}

}  // namespace
}  // namespace controller_test
