#include "flowcontrol/queue_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "flowcontrol/integrator.h"
#include "flowcontrol/simulation.h"

// The scenarios of fairqueuing/queueset/queueset_test.go.
namespace apiserver::inline v0::flowcontrol {

namespace {

using testing::Simulation;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

// The max-min fair allocation of `capacity` to the demands.
std::vector<double> FairAllocation(const std::vector<double>& demands, double capacity) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return demands[a] < demands[b]; });
  std::vector<double> result(demands.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double share = capacity / static_cast<double>(order.size() - i);
    result[order[i]] = std::min(demands[order[i]], share);
    capacity -= result[order[i]];
  }
  return result;
}

struct UniformClient {
  std::uint64_t hash;
  int threads;
  int calls;
  nanoseconds execution;
  nanoseconds think;
  int initial_seats = 1;
  int final_seats = 1;
  nanoseconds pad{0};
  bool split = false;  // Half of its threads begin halfway.
};

struct Scenario {
  QueuingConfig queuing;
  int concurrency;
  std::vector<UniformClient> clients;
  nanoseconds duration;
  std::vector<double> margins;  // Of the halves, or of all.
  std::vector<bool> fair = {true};
  bool all_executed = true;
  std::optional<std::vector<double>> expected = std::nullopt;
  std::optional<double> capacity = std::nullopt;  // Of the fair allocation, if not `concurrency`.
};

// Runs a scenario: each client's threads ask, are served for a while, think and ask again.
class Run {
 public:
  explicit Run(Scenario scenario)
      : scenario_(std::move(scenario)),
        set_(std::make_shared<QueueSet>(QueueSetOptions{
            .clock = &simulation_, .executor = &simulation_, .metrics = &metrics_.Of("level")})),
        demand_(simulation_.Now()) {
    REQUIRE(QueueSet::Check(scenario_.queuing).ok());
    set_->Configure(scenario_.queuing, {.concurrency_limit = scenario_.concurrency});
    for (std::size_t i = 0; i < scenario_.clients.size(); ++i) {
      seats_.emplace_back(simulation_.Now());
      flows_.push_back(&metrics_.Of("level", "client" + std::to_string(i)));
    }
  }

  void Exercise() {
    for (std::size_t i = 0; i < scenario_.clients.size(); ++i) StartThreads(i);
    if (scenario_.margins.size() == 2) Evaluate(scenario_.duration / 2, 0);
    Evaluate(scenario_.duration, scenario_.margins.size() - 1);
    simulation_.RunAll();
    CHECK((rejected_ == 0) == scenario_.all_executed);
    CHECK(set_->IsIdle());
    const QueueSetDump dump = set_->Dump(false);
    CHECK(dump.seats_in_use == 0);
    CHECK(dump.seats_waiting == 0);
    CHECK(dump.rejected == static_cast<std::uint64_t>(rejected_));
    for (const FlowMetrics* flow : flows_) {
      CHECK(flow->inqueue_requests.value() == 0);
      CHECK(flow->inqueue_seats.value() == 0);
      CHECK(flow->executing_requests.value() == 0);
      CHECK(flow->executing_seats.value() == 0);
    }
  }

  double epoch_advances() { return metrics_.Of("level").epoch_advances.value(); }
  double rejected_for_concurrency() {
    double sum = 0;
    for (const FlowMetrics* flow : flows_) sum += flow->rejected_concurrency_limit.value();
    return sum;
  }
  int rejected() const { return rejected_; }

 private:
  void After(nanoseconds delay, Executor::Task task) {
    (void)simulation_.PostAfter(delay, std::move(task));
  }

  void StartThreads(std::size_t client) {
    const UniformClient& uc = scenario_.clients[client];
    for (int thread = 0; thread < uc.threads; ++thread) {
      nanoseconds delay(90 * thread + 20 * static_cast<int>(client));
      int calls = uc.calls;
      if (uc.split && thread >= uc.threads / 2) {
        delay += scenario_.duration / 2;
        calls /= 2;
      }
      After(delay, [=, this] { Call(client, calls); });
    }
  }

  void Call(std::size_t client, int calls_left) {
    if (calls_left == 0) return;
    const UniformClient& uc = scenario_.clients[client];
    auto request = std::make_shared<FlowRequest>();
    request->work = {uc.initial_seats, uc.final_seats, uc.pad};
    request->flow_hash = uc.hash;
    request->metrics = flows_[client];
    AddDemand(request->work.max_seats());
    const auto decide = [=, this](bool execute) {
      if (execute) return Execute(client, calls_left, request);
      ++rejected_;
      AddDemand(-request->work.max_seats());
    };
    switch (set_->Start(*request)) {
      case QueueSet::Decision::kExecute:
        return decide(true);
      case QueueSet::Decision::kWait:
        return set_->Await(*request, decide);
      case QueueSet::Decision::kReject:
        return decide(false);
    }
  }

  void Execute(std::size_t client, int calls_left, const std::shared_ptr<FlowRequest>& request) {
    const UniformClient& uc = scenario_.clients[client];
    seats_[client].Add(simulation_.Now(), uc.initial_seats);
    After(uc.execution + uc.think, [=, this] { Call(client, calls_left - 1); });
    After(uc.execution, [=, this] {
      const UniformClient& of = scenario_.clients[client];
      seats_[client].Add(simulation_.Now(), -of.initial_seats);
      After(of.pad, [=, this] { AddDemand(-request->work.max_seats()); });
      set_->Finish(*request);
    });
  }

  void AddDemand(int seats) { demand_.Add(simulation_.Now(), seats); }

  void Evaluate(nanoseconds until, std::size_t part) {
    simulation_.RunUntil(until);
    const bool last = part + 1 == scenario_.margins.size();
    std::vector<double> demands;
    for (const UniformClient& uc : scenario_.clients) {
      const int threads = uc.split && !last ? uc.threads / 2 : uc.threads;
      const auto execution = static_cast<double>(uc.execution.count());
      demands.push_back(threads * uc.initial_seats * execution /
                        static_cast<double>((uc.think + uc.execution).count()));
    }
    const std::vector<double> expected = scenario_.expected.value_or(
        FairAllocation(demands, scenario_.capacity.value_or(scenario_.concurrency)));
    for (std::size_t i = 0; i < scenario_.clients.size(); ++i) {
      const double average = seats_[i].Reset(simulation_.Now()).average;
      CAPTURE(i, part, average, expected[i], scenario_.margins[part]);
      const double off = std::abs(average - expected[i]) / (expected[i] > 0 ? expected[i] : 1);
      // A hair for sums in another order than upstream's.
      CHECK((off <= scenario_.margins[part] + 1e-9) == scenario_.fair[part]);
    }
    const IntegratorResults got = set_->ResetSeatDemand();
    const IntegratorResults want = demand_.Reset(simulation_.Now());
    CHECK(got.duration == Approx(want.duration));
    CHECK(got.average == Approx(want.average));
    CHECK(got.deviation == Approx(want.deviation).margin(1e-6));
  }

  Scenario scenario_;
  Simulation simulation_;
  Metrics metrics_{metrics::NewRegistry()};
  std::shared_ptr<QueueSet> set_;
  Integrator demand_;
  std::vector<Integrator> seats_;
  std::vector<const FlowMetrics*> flows_;
  int rejected_ = 0;
};

}  // namespace

// TestFairAlloc.
TEST_CASE("flowcontrol: the tests know a fair allocation", "[flowcontrol]") {
  CHECK(FairAllocation({0, 0}, 42) == std::vector<double>{0, 0});
  CHECK(FairAllocation({47, 0}, 42) == std::vector<double>{42, 0});
  CHECK(FairAllocation({1, 47}, 42) == std::vector<double>{1, 41});
  CHECK(FairAllocation({3, 7, 9, 1}, 14) == std::vector<double>{3, 5, 5, 1});
  CHECK(FairAllocation({1, 9, 7, 3}, 21) == std::vector<double>{1, 9, 7, 3});
}

// TestBaseline.
TEST_CASE("flowcontrol: one client has the only seat", "[flowcontrol]") {
  Run({.queuing = {9, 8, 3},
       .concurrency = 1,
       .clients = {{1001001001, 1, 21, 1s, 0s}},
       .duration = 20s,
       .margins = {0}})
      .Exercise();
}

// TestExampt (sic).
TEST_CASE("flowcontrol: nothing limits what is exempt", "[flowcontrol]") {
  for (const int concurrency : {0, 2}) {
    CAPTURE(concurrency);
    Run({.queuing = {-1, 2, 3},
         .concurrency = concurrency,
         .clients = {{1001001001, 5, 20, 1s, 1s, 3}},
         .duration = 40s,
         .margins = {0.00000001},
         .expected = std::vector<double>{7.5}})
        .Exercise();
  }
}

// TestSeparations, 24 cases.
TEST_CASE("flowcontrol: seats that linger are not given away", "[flowcontrol]") {
  struct Case {
    nanoseconds think;
    nanoseconds pad;
    int final_seats;
    int concurrency;
    int clients;
    std::vector<double> expected;  // Empty: the fair allocation.
  };
  constexpr double kThird = 1.0 / 3;
  const std::vector<Case> cases = {{1s, 0s, 1, 1, 1, {}},
                                   {1s, 0s, 1, 2, 1, {}},
                                   {1s, 0s, 2, 2, 1, {}},
                                   {1s, 0s, 1, 1, 2, {}},
                                   {1s, 0s, 1, 2, 2, {}},
                                   {1s, 0s, 2, 2, 2, {}},
                                   {0s, 1s, 1, 1, 1, {0.5}},
                                   {0s, 1s, 1, 2, 1, {}},
                                   {0s, 1s, 2, 2, 1, {0.5}},
                                   {0s, 1s, 1, 1, 2, {0.25, 0.25}},
                                   {0s, 1s, 1, 2, 2, {0.5, 0.5}},
                                   {0s, 1s, 2, 2, 2, {0.25, 0.25}},
                                   {1s, 500ms, 1, 1, 1, {}},
                                   {1s, 500ms, 1, 2, 1, {}},
                                   {1s, 500ms, 2, 2, 1, {}},
                                   {1s, 500ms, 1, 1, 2, {kThird, kThird}},
                                   {1s, 500ms, 1, 2, 2, {}},
                                   {1s, 500ms, 2, 2, 2, {kThird, kThird}},
                                   {500ms, 1s, 1, 1, 1, {0.5}},
                                   {500ms, 1s, 1, 2, 1, {}},
                                   {500ms, 1s, 2, 2, 1, {0.5}},
                                   {500ms, 1s, 1, 1, 2, {0.25, 0.25}},
                                   {500ms, 1s, 1, 2, 2, {0.5, 0.5}},
                                   {500ms, 1s, 2, 2, 2, {0.25, 0.25}}};
  for (const Case& each : cases) {
    CAPTURE(each.think.count(), each.pad.count(), each.final_seats, each.concurrency, each.clients);
    std::vector<UniformClient> clients = {
        {1001001001, 1, 25, 1s, each.think, 1, each.final_seats, each.pad},
        {2002002002, 1, 25, 1s, each.think, 1, each.final_seats, each.pad}};
    clients.resize(static_cast<std::size_t>(each.clients));
    Scenario scenario{.queuing = {9, 8, 3},
                      .concurrency = each.concurrency,
                      .clients = clients,
                      .duration = 24s,
                      .margins = {0.0000001}};
    if (!each.expected.empty()) scenario.expected = each.expected;
    Run(scenario).Exercise();
  }
}

// TestUniformFlowsHandSize1, TestUniformFlowsHandSize3.
TEST_CASE("flowcontrol: equal flows get equal shares", "[flowcontrol]") {
  Run({.queuing = {9, 8, 1},
       .concurrency = 4,
       .clients = {{1001001001, 8, 20, 1s, 1s - 1ns}, {2002002002, 8, 20, 1s, 1s - 1ns}},
       .duration = 50s,
       .margins = {0.01}})
      .Exercise();
  Run({.queuing = {8, 16, 3},
       .concurrency = 4,
       .clients = {{400900100100, 8, 30, 1s, 1s - 1ns}, {300900200200, 8, 30, 1s, 1s - 1ns}},
       .duration = 60s,
       .margins = {0.03}})
      .Exercise();
}

// TestDifferentFlowsExpectEqual, TestDifferentFlowsExpectUnequal.
TEST_CASE("flowcontrol: different flows get what is fair", "[flowcontrol]") {
  Run({.queuing = {9, 8, 1},
       .concurrency = 4,
       .clients = {{1001001001, 8, 20, 1s, 1s}, {2002002002, 7, 30, 1s, 500ms}},
       .duration = 40s,
       .margins = {0.01}})
      .Exercise();
  Run({.queuing = {9, 6, 1},
       .concurrency = 3,
       .clients = {{1001001001, 4, 20, 1s, 1s - 1ns}, {2002002002, 2, 20, 1s, 1s - 1ns}},
       .duration = 20s,
       .margins = {0.01}})
      .Exercise();
}

// TestSeatSecondsRollover.
TEST_CASE("flowcontrol: the progress meter may run for years", "[flowcontrol]") {
  constexpr nanoseconds kQuarter = 91 * 24h;
  Run run({.queuing = {9, 8, 1},
           .concurrency = 2000,
           .clients = {{1001001001, 8, 20, kQuarter, kQuarter, 500},
                       {2002002002, 7, 30, kQuarter, kQuarter / 2, 500}},
           .duration = kQuarter * 40,
           .margins = {0.01}});
  run.Exercise();
  CHECK(run.epoch_advances() == 8);
}

// TestDifferentWidths, TestTooWide.
TEST_CASE("flowcontrol: wide requests get their share of seats", "[flowcontrol]") {
  Run({.queuing = {64, 13, 7},
       .concurrency = 6,
       .clients = {{10010010010010, 13, 10, 1s, 1s - 1ns},
                   {20020020020020, 7, 10, 1s, 1s - 1ns, 2}},
       .duration = 20s,
       .margins = {0.155}})
      .Exercise();
  std::vector<UniformClient> clients;
  for (const std::uint64_t hash :
       {40040040040040U, 50050050050050U, 60060060060060U, 70070070070070U}) {
    clients.push_back({hash, 15, 21, 1s, 1s - 1ns, 2});
  }
  clients.push_back({90090090090090U, 15, 21, 1s, 1s - 1ns, 7});
  Run({.queuing = {64, 35, 7},
       .concurrency = 6,
       .clients = clients,
       .duration = 400s,
       .margins = {0.35}})
      .Exercise();
}

// TestWindup: a flow that could not use its share for a while gets only part of it back.
TEST_CASE("flowcontrol: a share that was not used is not saved up for long", "[flowcontrol]") {
  for (const auto& [margin, fair] : {std::pair(0.26, true), std::pair(0.1, false)}) {
    CAPTURE(margin);
    Run({.queuing = {9, 6, 1},
         .concurrency = 3,
         .clients = {{1001001001, 2, 40, 1s, -1ns},
                     {2002002002, 2, 40, 1s, -1ns, 1, 1, 0s, /*split=*/true}},
         .duration = 40s,
         .margins = {0.01, margin},
         .fair = {true, fair}})
        .Exercise();
  }
}

// TestDifferentFlowsWithoutQueuing.
TEST_CASE("flowcontrol: without queues what finds no seat is refused", "[flowcontrol]") {
  Run run({.queuing = {0, 0, 0},
           .concurrency = 4,
           .clients = {{1001001001, 6, 10, 1s, 57ms}, {2002002002, 4, 15, 1s, 750ms}},
           .duration = 13s,
           .margins = {0.20},
           .fair = {false},
           .all_executed = false});
  run.Exercise();
  CHECK(run.rejected_for_concurrency() == run.rejected());
}

namespace {

// A queue set of 11 queues and one seat, as in TestContextCancel.
struct OneSeat {
  OneSeat() { set->Configure({11, 11, 1}, {1}); }

  FlowRequest Request(std::uint64_t hash) {
    FlowRequest request;
    request.flow_hash = hash;
    request.metrics = &flow;
    return request;
  }

  Simulation simulation;
  Metrics metrics{metrics::NewRegistry()};
  const FlowMetrics& flow = metrics.Of("level", "schema");
  bool idle = false;
  std::shared_ptr<QueueSet> set =
      std::make_shared<QueueSet>(QueueSetOptions{.clock = &simulation,
                                                 .executor = &simulation,
                                                 .metrics = &metrics.Of("level"),
                                                 .on_idle = [this] { idle = true; }});
};

}  // namespace

// TestContextCancel.
TEST_CASE("flowcontrol: a request that is given up leaves its queue", "[flowcontrol]") {
  OneSeat one;
  FlowRequest first = one.Request(1);
  FlowRequest second = one.Request(2);
  REQUIRE(one.set->Start(first) == QueueSet::Decision::kExecute);
  REQUIRE(one.set->Start(second) == QueueSet::Decision::kWait);
  std::optional<bool> executed;
  one.set->Await(second, [&executed](bool execute) { executed = execute; });
  CHECK(one.flow.inqueue_requests.value() == 1);
  one.simulation.RunUntil(1s);
  CHECK_FALSE(executed);
  CHECK(one.set->Cancel(second, /*timed_out=*/true));
  CHECK(executed == false);
  CHECK_FALSE(one.set->Cancel(second, /*timed_out=*/true));
  CHECK_FALSE(one.set->Cancel(first, /*timed_out=*/true));
  CHECK(one.flow.inqueue_requests.value() == 0);
  CHECK(one.flow.rejected_time_out.value() == 1);
  CHECK(one.set->Dump(false).timed_out == 1);
  CHECK_FALSE(one.set->IsIdle());
  one.set->Finish(first);
  CHECK(one.set->IsIdle());
}

TEST_CASE("flowcontrol: only who waits is in the gauges of queues", "[flowcontrol]") {
  OneSeat one;
  FlowRequest first = one.Request(1);
  FlowRequest second = one.Request(2);
  second.work.initial_seats = 3;

  REQUIRE(one.set->Start(first) == QueueSet::Decision::kExecute);
  CHECK(one.flow.inqueue_requests.value() == 0);
  REQUIRE(one.set->Start(second) == QueueSet::Decision::kWait);
  CHECK(one.flow.inqueue_requests.value() == 1);
  CHECK(one.flow.inqueue_seats.value() == 3);
  one.set->Finish(first);
  CHECK(second.state == FlowRequest::State::kExecuting);
  CHECK(one.flow.inqueue_requests.value() == 0);
  CHECK(one.flow.inqueue_seats.value() == 0);
  one.set->Finish(second);
}

TEST_CASE("flowcontrol: a time that was read before another one counts as that one",
          "[flowcontrol]") {
  OneSeat one;
  FlowRequest first = one.Request(1);
  FlowRequest second = one.Request(2);
  const Clock::Monotonic read = one.simulation.Now() + 5s;

  REQUIRE(one.set->Start(first, read) == QueueSet::Decision::kExecute);
  CHECK(first.started == read);
  one.set->Finish(first, read - 2s);
  CHECK(first.finished == read);
  REQUIRE(one.set->Start(second, read - 1s) == QueueSet::Decision::kExecute);
  CHECK(second.started == read);
  one.set->Finish(second, read + 1s);
  CHECK(second.finished == read + 1s);
}

TEST_CASE("flowcontrol: who waits is told when a seat is free", "[flowcontrol]") {
  OneSeat one;
  FlowRequest first = one.Request(1);
  FlowRequest second = one.Request(2);
  FlowRequest third = one.Request(3);
  REQUIRE(one.set->Start(first) == QueueSet::Decision::kExecute);
  REQUIRE(one.set->Start(second) == QueueSet::Decision::kWait);
  REQUIRE(one.set->Start(third) == QueueSet::Decision::kWait);
  std::vector<int> told;
  one.set->Await(second, [&told](bool execute) { told.push_back(execute ? 2 : -2); });
  one.set->Finish(first);
  CHECK(told == std::vector<int>{2});
  // It was its turn before anyone waited for it.
  one.set->Finish(second);
  one.set->Await(third, [&told](bool execute) { told.push_back(execute ? 3 : -3); });
  CHECK(told == std::vector<int>{2, 3});
  CHECK_FALSE(one.idle);
  one.set->set_retiring(true);
  one.set->Finish(third);
  CHECK(one.idle);
}

TEST_CASE("flowcontrol: a queue that is full refuses", "[flowcontrol]") {
  OneSeat one;
  std::vector<FlowRequest> requests(13);
  for (FlowRequest& request : requests) {
    request = one.Request(1);
    const auto expected = &request == &requests.front()  ? QueueSet::Decision::kExecute
                          : &request == &requests.back() ? QueueSet::Decision::kReject
                                                         : QueueSet::Decision::kWait;
    CHECK(one.set->Start(request) == expected);
  }
  CHECK(one.flow.rejected_queue_full.value() == 1);
  // More seats: all may go at once.
  one.set->Configure({11, 11, 1}, {20});
  CHECK(one.flow.executing_requests.value() == 12);
  for (std::size_t i = 0; i + 1 < requests.size(); ++i) one.set->Finish(requests[i]);
  CHECK(one.set->IsIdle());
}

// TestFinishRequestLocked: seats linger for as long as was estimated.
TEST_CASE("flowcontrol: a write's seats linger after its answer", "[flowcontrol]") {
  OneSeat one;
  FlowRequest write = one.Request(1);
  write.work = {.initial_seats = 1, .final_seats = 5, .additional_latency = 1s};
  // Wider than all there is: it is alone, and the same work takes one seat longer.
  REQUIRE(one.set->Start(write) == QueueSet::Decision::kExecute);
  FlowRequest next = one.Request(2);
  REQUIRE(one.set->Start(next) == QueueSet::Decision::kWait);
  std::optional<bool> executed;
  one.set->Await(next, [&executed](bool execute) { executed = execute; });
  one.set->Finish(write);
  one.simulation.RunUntil(4999ms);
  CHECK(one.set->Dump(false).seats_in_use == 1);
  CHECK(one.flow.executing_requests.value() == 0);
  CHECK_FALSE(executed);
  one.simulation.RunUntil(5s);
  CHECK(executed == true);
  one.set->Finish(next);
  CHECK(one.flow.executing_seats.value() == 0);
}

TEST_CASE("flowcontrol: queues too many go when they are empty", "[flowcontrol]") {
  OneSeat one;
  FlowRequest first = one.Request(1);
  FlowRequest second = one.Request(5);
  REQUIRE(one.set->Start(first) == QueueSet::Decision::kExecute);
  REQUIRE(one.set->Start(second) == QueueSet::Decision::kWait);
  one.set->Configure({2, 11, 1}, {1});
  CHECK(one.set->Dump(false).queues.size() == 11);
  one.set->Finish(first);
  CHECK(one.set->Dump(false).queues.size() == 10);
  CHECK(one.flow.executing_requests.value() == 1);
  one.set->Finish(second);
  CHECK(one.set->Dump(false).queues.size() == 9);
}

TEST_CASE("flowcontrol: a flow's hand is dealt anew for another number of queues",
          "[flowcontrol]") {
  OneSeat one;
  const auto queue_of = [&one](FlowRequest& request) {
    REQUIRE(one.set->Start(request) == QueueSet::Decision::kExecute);
    const std::vector<QueueDump> queues = one.set->Dump(false).queues;
    const auto used = std::find_if(queues.begin(), queues.end(),
                                   [](const QueueDump& queue) { return queue.seats_in_use > 0; });
    one.set->Finish(request);
    return used - queues.begin();
  };
  FlowRequest first = one.Request(5);
  FlowRequest again = one.Request(5);
  CHECK(queue_of(first) == 5);
  CHECK(queue_of(again) == 5);
  FlowRequest other = one.Request(7);
  CHECK(queue_of(other) == 7);
  one.set->Configure({2, 11, 1}, {1});
  FlowRequest last = one.Request(7);
  CHECK(queue_of(last) == 1);
}

}  // namespace apiserver::inline v0::flowcontrol
