// Tests that workers reconcile again after errors, not before a sync, and not after a stop.
#include "apiserver/controller/controller.h"

#include <catch2/catch.hpp>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
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

TEST_CASE("controller: a key comes again after an error, an exception and when it asks",
          "[controller]") {
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
       .metrics = registry.get()});
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
        R"(workqueue_adds_total{name="pets"} 4)"}) {
    INFO(line << "\n" << text);
    CHECK(text.find(std::string(line) + "\n") != std::string::npos);
  }
}

TEST_CASE("controller: workers begin once the informers have synced", "[controller]") {
  Turns turns;
  SyncedLater informer;
  const auto pets = NewController(
      {.name = "pets",
       .reconcile = [&](const Context&, const NamespacedName& key) -> Result<ReconcileResult> {
         turns.Add(key);
         return ReconcileResult{};
       },
       .workers = 3});
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
  Turns turns;
  const auto pets = NewController(
      {.name = "pets",
       .reconcile = [&](const Context& ctx, const NamespacedName& key) -> Result<ReconcileResult> {
         turns.Add(key);
         Notification cancelled;
         const auto registration = ctx.OnDone([&] { cancelled.Notify(); });
         if (!cancelled.WaitFor(kPatience)) return Status(Reason::kInternalError, "not cancelled");
         return ctx.Err();
       }});
  pets->Start({});
  pets->queue().Add({"ns", "tom"});
  pets->queue().Add({"ns", "kit"});
  REQUIRE(turns.Await(1));
  pets->Stop();
  CHECK(turns.all() == std::vector<std::string>{"ns/tom"});
  CHECK(pets->queue().Requeues({"ns", "tom"}) == 0);
  CHECK(pets->queue().size() == 0);
}

}  // namespace
}  // namespace controller_test
