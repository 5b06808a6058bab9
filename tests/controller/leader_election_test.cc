// Tests that one candidate leads at a time, also while a leader hangs, and what the lease says.
#include "apiserver/controller/leader_election.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/testing/server/fake_clock.h"
#include "controller/gated_connection.h"
#include "controller/served.h"
#include "controller/support.h"

namespace controller_test {
namespace {

using namespace apiserver;
using controller::LeaderElectionOptions;
using std::chrono::milliseconds;
using std::chrono::seconds;

const client::Target kLease{
    .resource = {"coordination.k8s.io", "v1", "leases"}, .namespace_ = "default", .name = "keeper"};

// A process that wants to lead.
class Candidate {
 public:
  Candidate(testing::TestServer& server, const std::string& identity, const Clock& clock,
            bool release = false) {
    auto gated = std::make_shared<GatedConnection>(server.server().LoopbackConnection());
    gate = gated.get();
    client_ = client::NewClient(std::move(gated));
    LeaderElectionOptions options{.client = client_.get(),
                                  .namespace_ = "default",
                                  .name = "keeper",
                                  .identity = identity,
                                  .labels = {{"app", "zoo"}},
                                  .release = release};
    options.on_started_leading = [this](const Context& leading) {
      ++started;
      Notification over;
      const auto registration = leading.OnDone([&] { over.Notify(); });
      over.Wait();
      ++ended;
    };
    options.on_stopped_leading = [this](const Status&) { ++stopped; };
    options.on_new_leader = [this](const std::string& leader) {
      leaders.Lock()->push_back(leader);
    };
    options.metrics = registry.get();
    options.clock = &clock;
    elector = controller::NewLeaderElector(std::move(options)).value();
  }
  ~Candidate() { Stop(); }

  void Run() {
    thread_ = Thread("candidate", [this] {
      *outcome.Lock() = elector->Run(ctx_);
      returned.Notify();
    });
  }
  void Stop() {
    gate->Open();
    ctx_.Cancel(Status(Reason::kTimeout, "the test is over"));
    thread_.Join();
  }
  bool Master() const {
    return registry->Serialize().find(R"(leader_election_master_status{name="keeper"} 1)") !=
           std::string::npos;
  }

  GatedConnection* gate = nullptr;
  const std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::unique_ptr<controller::LeaderElector> elector;
  std::atomic<int> started = 0;
  std::atomic<int> ended = 0;
  std::atomic<int> stopped = 0;
  Guarded<std::vector<std::string>> leaders;
  Guarded<std::optional<Status>> outcome;
  Notification returned;

 private:
  std::unique_ptr<client::Client> client_;
  const Context ctx_ = Context::Child(Context::Background());
  Thread thread_;
};

using Candidates = std::vector<Candidate*>;

int Leaders(const Candidates& all) {
  return static_cast<int>(std::count_if(
      all.begin(), all.end(), [](const Candidate* one) { return one->elector->IsLeader(); }));
}

// Lets time pass in steps until `done` holds. False: it did not, or two led at a time. Time waits
// for the requests of `steady`, however slow the machine is, so that it keeps the lease that it
// has.
template <class Done>
bool PassTime(testing::FakeClock& clock, const Candidates& all, Done done,
              const Candidate* steady = nullptr) {
  const auto patience = RealClock().Now() + kPatience;
  int answered = -1;
  auto progress = clock.Now();
  while (!done()) {
    if (Leaders(all) > 1 || RealClock().Now() > patience) return false;
    if (steady != nullptr && steady->gate->answered() != answered) {
      answered = steady->gate->answered();
      progress = clock.Now();
    }
    if (steady == nullptr || clock.Now() - progress < seconds(5)) clock.Advance(milliseconds(100));
    Notification().WaitFor(milliseconds(3));
  }
  return Leaders(all) <= 1;
}

runtime::Value SpecOf(const std::unique_ptr<runtime::Object>& lease) { return (*lease)["spec"]; }

TEST_CASE("leader election: a lease is created, renewed and released as client-go does it",
          "[controller]") {
  const auto server = StartCluster();
  testing::FakeClock clock;
  Candidate a(*server, "a", clock, /*release=*/true);
  Candidate b(*server, "b", clock);
  a.Run();
  REQUIRE(PassTime(
      clock, {&a, &b}, [&] { return a.started == 1; }, &a));
  CHECK(a.elector->IsLeader());
  CHECK(a.Master());

  const Context ctx = Context::Background();
  const auto made = server->client().Get(ctx, kLease).value();
  CHECK(SpecOf(made)["holderIdentity"].AsString() == "a");
  CHECK(SpecOf(made)["leaseDurationSeconds"].AsInt() == 15);
  CHECK(SpecOf(made)["leaseTransitions"].AsInt() == 0);
  CHECK(SpecOf(made)["acquireTime"].AsString().size() ==
        std::string_view("2020-09-13T12:26:40.000000Z").size());
  CHECK(made->labels()["app"].AsString() == "zoo");
  REQUIRE(PassTime(
      clock, {&a, &b},
      [&] {
        const auto renewed = server->client().Get(ctx, kLease).value();
        return !(SpecOf(renewed)["renewTime"] == SpecOf(made)["renewTime"]);
      },
      &a));

  b.Run();
  REQUIRE(PassTime(
      clock, {&a, &b}, [&] { return b.elector->Leader() == "a"; }, &a));
  a.Stop();
  CHECK(a.outcome.Lock()->value().ok());
  CHECK(a.ended == 1);
  CHECK(a.stopped == 1);
  CHECK_FALSE(a.Master());
  REQUIRE(PassTime(
      clock, {&a, &b}, [&] { return b.started == 1; }, &b));
  const auto taken = server->client().Get(ctx, kLease).value();
  CHECK(SpecOf(taken)["holderIdentity"].AsString() == "b");
  CHECK(SpecOf(taken)["leaseTransitions"].AsInt() == 1);
  CHECK(a.leaders.Lock()->front() == "a");
  CHECK(b.leaders.Lock()->back() == "b");
  b.Stop();
  const auto kept = server->client().Get(ctx, kLease).value();
  CHECK(SpecOf(kept)["holderIdentity"].AsString() == "b");
}

TEST_CASE("leader election: a leader that hangs stops before another starts, and is told",
          "[controller]") {
  const auto server = StartCluster();
  testing::FakeClock clock;
  Candidate a(*server, "a", clock);
  Candidate b(*server, "b", clock);
  const Candidates all{&a, &b};
  a.Run();
  REQUIRE(PassTime(
      clock, all, [&] { return a.started == 1; }, &a));
  b.Run();
  REQUIRE(PassTime(
      clock, all, [&] { return b.elector->Leader() == "a"; }, &a));

  a.gate->Hold();
  REQUIRE(PassTime(clock, all, [&] { return a.stopped == 1 && a.ended == 1; }));
  CHECK(b.started == 0);
  CHECK_FALSE(a.Master());
  REQUIRE(PassTime(
      clock, all, [&] { return b.started == 1; }, &b));
  CHECK(a.gate->waiting() == 1);
  CHECK_FALSE(a.returned.HasBeenNotified());
  REQUIRE(PassTime(
      clock, all, [&] { return !a.elector->Check(seconds(20)).ok(); }, &b));
  CHECK(a.elector->Check(seconds(20)).message() ==
        "failed election to renew leadership on lease keeper");

  // Its renewal reaches the server only now.
  a.gate->Open();
  REQUIRE(a.returned.WaitFor(kPatience));
  const Status lost = a.outcome.Lock()->value();
  CHECK(lost.reason() == Reason::kTimeout);
  CHECK(lost.message() == "lease default/keeper was not renewed within 10s");
  CHECK_FALSE(a.elector->IsLeader());
  CHECK(a.elector->Check(seconds(20)).ok());
  CHECK(b.elector->IsLeader());
}

TEST_CASE("leader election: all threads of a leader stand still, and it is none when they go on",
          "[controller]") {
  const auto server = StartCluster();
  testing::FakeClock clock;
  Candidate a(*server, "a", clock);
  a.Run();
  REQUIRE(PassTime(
      clock, {&a}, [&] { return a.started == 1; }, &a));
  // At once, as for a process that was suspended: nothing of it has run since.
  clock.Advance(seconds(10));
  CHECK_FALSE(a.elector->IsLeader());
  REQUIRE(a.returned.WaitFor(kPatience));
  CHECK(a.outcome.Lock()->value().reason() == Reason::kTimeout);
  CHECK(a.ended == 1);
}

TEST_CASE("leader election: requests are held at random, and two never lead", "[controller]") {
  const auto server = StartCluster();
  testing::FakeClock clock;
  const auto random = NewSeededRandom(7);
  std::vector<std::unique_ptr<Candidate>> owned;
  Candidates all;
  for (const char* const name : {"a", "b", "c"}) {
    owned.push_back(std::make_unique<Candidate>(*server, name, clock));
    all.push_back(owned.back().get());
    all.back()->Run();
  }
  int changes = 0;
  const Candidate* last = nullptr;
  for (int step = 0; step < 4000 && changes < 4; ++step) {
    REQUIRE(PassTime(clock, all, [] { return true; }));
    clock.Advance(milliseconds(100));
    Notification().WaitFor(milliseconds(1));
    for (Candidate* const one : all) {
      if (one->elector->IsLeader() && one != last) {
        ++changes;
        last = one;
      }
      if (random->Below(40) != 0) continue;
      if (random->Below(2) == 0 || !one->elector->IsLeader())
        one->gate->Open();
      else
        one->gate->Hold();
    }
    // One that has lost comes back under its name.
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i]->returned.HasBeenNotified()) continue;
      const std::string name(1, static_cast<char>('a' + i));
      if (last == all[i]) last = nullptr;
      all[i]->Stop();
      owned[i] = std::make_unique<Candidate>(*server, name + std::to_string(step), clock);
      all[i] = owned[i].get();
      all[i]->Run();
    }
  }
  CHECK(changes >= 4);
}

TEST_CASE("leader election: a lease of client-go is waited for, and taken with its transitions",
          "[controller]") {
  const auto server = StartCluster();
  // As kube-controller-manager's, with a time that is long past by any clock.
  const auto response = server->Call(
      "POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
      R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"keeper",)"
      R"("labels":{"theirs":"stays"}},"spec":{"holderIdentity":"go_1","leaseDurationSeconds":7,)"
      R"("acquireTime":"2001-01-01T00:00:00.000000Z","renewTime":"2001-01-01T00:00:01.000000Z",)"
      R"("leaseTransitions":4}})");
  REQUIRE(response.code == 201);
  testing::FakeClock clock;
  Candidate a(*server, "a", clock);
  const auto start = clock.Now();
  a.Run();
  REQUIRE(PassTime(
      clock, {&a}, [&] { return a.started == 1; }, &a));
  CHECK(clock.Now() - start >= seconds(7));
  const auto taken = server->client().Get(Context::Background(), kLease).value();
  CHECK(SpecOf(taken)["holderIdentity"].AsString() == "a");
  CHECK(SpecOf(taken)["leaseTransitions"].AsInt() == 5);
  CHECK(taken->labels()["theirs"].AsString() == "stays");
  CHECK(*a.leaders.Lock() == std::vector<std::string>{"go_1", "a"});
}

TEST_CASE("leader election: a lease that another takes or deletes", "[controller]") {
  const auto server = StartCluster();
  testing::FakeClock clock;
  Candidate a(*server, "a", clock);
  a.Run();
  REQUIRE(PassTime(
      clock, {&a}, [&] { return a.started == 1; }, &a));
  const Context ctx = Context::Background();

  SECTION("another took it: the leader stops at once") {
    REQUIRE(server->client()
                .Patch(ctx, kLease,
                       {"application/merge-patch+json", R"({"spec":{"holderIdentity":"x"}})"})
                .ok());
    REQUIRE(PassTime(
        clock, {&a}, [&] { return a.returned.HasBeenNotified(); }, &a));
    const Status lost = a.outcome.Lock()->value();
    CHECK(lost.reason() == Reason::kConflict);
    CHECK(lost.message() == R"(lease default/keeper was taken by "x")");
  }
  SECTION("its labels were changed: it is read again, and renewed") {
    REQUIRE(server->client()
                .Patch(ctx, kLease,
                       {"application/merge-patch+json", R"({"metadata":{"labels":{"x":"y"}}})"})
                .ok());
    REQUIRE(PassTime(
        clock, {&a},
        [&] {
          return a.registry->Serialize().find(
                     R"(leader_election_slowpath_total{name="keeper"} 1)") != std::string::npos;
        },
        &a));
    CHECK(a.elector->IsLeader());
  }
  SECTION("it was deleted: it is created again") {
    REQUIRE(server->client().Delete(ctx, kLease).ok());
    REQUIRE(PassTime(
        clock, {&a}, [&] { return server->client().Get(ctx, kLease).ok(); }, &a));
    CHECK(a.elector->IsLeader());
  }
}

TEST_CASE("leader election: a server that is away or refuses", "[controller]") {
  const auto server = StartCluster();
  testing::FakeClock clock;
  Candidate a(*server, "a", clock);

  SECTION("before: the candidate waits") {
    a.gate->Refuse(Refusal(403, "Forbidden", "not for you"));
    a.Run();
    const auto until = clock.Now() + seconds(30);
    REQUIRE(PassTime(clock, {&a}, [&] { return clock.Now() >= until; }));
    CHECK(a.started == 0);
    a.gate->Open();
    REQUIRE(PassTime(
        clock, {&a}, [&] { return a.started == 1; }, &a));
  }
  SECTION("while it leads: it stops in time, with the last error") {
    a.Run();
    REQUIRE(PassTime(
        clock, {&a}, [&] { return a.started == 1; }, &a));
    const auto cut = clock.Now();
    a.gate->Cut();
    REQUIRE(PassTime(clock, {&a}, [&] { return a.returned.HasBeenNotified(); }));
    CHECK(clock.Now() - cut < seconds(15));
    CHECK(a.outcome.Lock()->value().message() ==
          "lease default/keeper was not renewed within 10s: ServiceUnavailable: no route to host");
  }
}

TEST_CASE("leader election: as the documentation has it", "[controller]") {
  const auto server = StartCluster();
  const Context stop = Context::Child(Context::Background());
  Notification working;
  Notification ended;
  Status outcome(Reason::kInternalError, "not returned");

  // [lead]
  const auto elector =
      controller::NewLeaderElector({.client = &server->client(),
                                    .namespace_ = "default",
                                    .name = "zoo-keeper",
                                    .identity = "host_8c3b",  // The host's name and a UUID.
                                    .release = true,
                                    .on_started_leading = [&](const Context& leading) {
                                      // The leader's work, which returns when `leading` ends.
                                      const auto registration =
                                          leading.OnDone([&] { ended.Notify(); });
                                      working.Notify();
                                      ended.Wait();
                                    }});
  REQUIRE(elector.ok());  // Else the options contradict each other.
  // Returns when `stop` is cancelled, or with the reason why the lease was lost.
  Thread candidate("candidate", [&] { outcome = (*elector)->Run(stop); });
  // [/lead]

  REQUIRE(working.WaitFor(kPatience));
  CHECK((*elector)->IsLeader());
  stop.Cancel(Status(Reason::kTimeout, "enough"));
  candidate.Join();
  CHECK(outcome.ok());
  const client::Target lease{
      .resource = kLease.resource, .namespace_ = "default", .name = "zoo-keeper"};
  const auto released = server->client().Get(Context::Background(), lease).value();
  CHECK(SpecOf(released)["holderIdentity"].AsString().empty());
}

TEST_CASE("leader election: options that contradict each other are refused", "[controller]") {
  const auto server = StartCluster();
  LeaderElectionOptions options{.client = &server->client(),
                                .namespace_ = "default",
                                .name = "keeper",
                                .identity = "a",
                                .on_started_leading = [](const Context&) {}};
  REQUIRE(controller::NewLeaderElector(options).ok());
  switch (GENERATE(range(0, 6))) {
    case 0:
      options.identity = "";
      break;
    case 1:
      options.renew_deadline = options.lease_duration;
      break;
    case 2:
      options.retry_period = seconds(9);
      break;
    case 3:
      options.retry_period = seconds(0);
      break;
    case 4:
      options.client = nullptr;
      break;
    default:
      options.on_started_leading = nullptr;
  }
  CHECK(controller::NewLeaderElector(options).status().reason() == Reason::kInvalid);
}

}  // namespace
}  // namespace controller_test
