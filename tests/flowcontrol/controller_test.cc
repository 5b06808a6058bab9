#include "flowcontrol/controller.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "flowcontrol/flow_hash.h"
#include "flowcontrol/simulation.h"

namespace apiserver::inline v0::flowcontrol {

namespace {

using testing::Simulation;
using namespace std::chrono_literals;

// A controller, the seats of its levels as the metrics tell them, and requests that hold seats.
class World {
 public:
  explicit World(int server_limit) : controller(Make(server_limit)) {}

  double Current(const std::string& level) { return metrics.Of(level).current_limit_seats.value(); }
  double Nominal(const std::string& level) { return metrics.Of(level).nominal_limit_seats.value(); }
  double Least(const std::string& level) { return metrics.Of(level).lower_limit_seats.value(); }

  Controller::Classified Classify(const std::string& user) {
    users.push_back(std::make_shared<auth::UserInfo>(
        auth::UserInfo{.name = user, .groups = {"system:authenticated"}}));
    return controller->Classify(info, users.back());
  }

  // A request of `user`'s, started.
  struct Held {
    Controller::Classified classified;
    FlowRequest request;
    QueueSet& queues() const { return *classified.schema->level->queues; }
  };
  std::unique_ptr<Held> Start(const std::string& user, QueueSet::Decision expected) {
    auto held = std::make_unique<Held>(Held{Classify(user), {}});
    held->request.flow_hash = held->classified.flow_hash;
    held->request.metrics = held->classified.schema->metrics;
    held->request.flow_schema = held->classified.schema->config.name;
    held->request.flow_distinguisher = held->classified.distinguisher;
    held->request.info = &info;
    held->request.user = users.back().get();
    CHECK(held->queues().Start(held->request) == expected);
    return held;
  }

  Simulation simulation;
  std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::unique_ptr<Random> random = NewSeededRandom(42);
  Metrics metrics{registry};
  std::shared_ptr<Watermarks> watermarks =
      std::make_shared<Watermarks>(*registry, Clock::Monotonic(1'600'000'000s));
  std::shared_ptr<Controller> controller;
  request::RequestInfo info{.path = "/foobar", .verb = "GET"};
  std::deque<auth::UserInfoPtr> users;

 private:
  std::shared_ptr<Controller> Make(int server_limit) {
    simulation.RunUntil(1'600'000'000s);
    return Controller::New({.server_concurrency_limit = server_limit,
                            .clock = &simulation,
                            .executor = &simulation,
                            .random = random.get(),
                            .metrics = registry,
                            .watermarks = watermarks});
  }
};

PriorityLevelConfiguration Limited(std::string name, int shares, int lendable = 0,
                                   std::optional<int> borrowing = std::nullopt) {
  return {.name = std::move(name),
          .uid = {},
          .nominal_concurrency_shares = shares,
          .lendable_percent = lendable,
          .borrowing_limit_percent = borrowing,
          .queuing = QueuingConfiguration{10, 2, 10}};
}

FlowSchema ForUser(const std::string& user, std::string level, int precedence = 100) {
  return {.name = "schema-of-" + user,
          .uid = {},
          .priority_level = std::move(level),
          .matching_precedence = precedence,
          .distinguisher = FlowSchema::Distinguisher::kByUser,
          .rules = {{.subjects = {{Subject::Kind::kUser, user}},
                     .resource_rules = {},
                     .non_resource_rules = {{{"*"}, {"*"}}}}}};
}

}  // namespace

TEST_CASE("flowcontrol: a server without objects has the built-in levels", "[flowcontrol]") {
  World world(600);
  CHECK(world.controller->PriorityLevels() ==
        std::vector<std::string>{"catch-all", "exempt", "global-default", "leader-election",
                                 "node-high", "system", "workload-high", "workload-low"});
  // Of 245 shares.
  CHECK(world.Nominal("workload-low") == 245);
  CHECK(world.Nominal("catch-all") == 13);
  CHECK(world.Nominal("exempt") == 0);
  CHECK(world.Least("workload-low") == 24);
  CHECK(world.Classify("jane").schema->config.name == "global-default");
}

// max_seats_test.go: Test_GetMaxSeats.
TEST_CASE("flowcontrol: one request gets a part of its level's seats at the most",
          "[flowcontrol]") {
  struct Case {
    int nominal;
    int hand_size;
    int seats;
  };
  for (const Case& each :
       {Case{5, 6, 1}, Case{10, 6, 1}, Case{15, 6, 2}, Case{20, 6, 3}, Case{35, 6, 5},
        Case{100, 6, 15}, Case{200, 6, 30}, Case{10, 1, 2}, Case{100, 20, 5}}) {
    CAPTURE(each.nominal, each.hand_size);
    World world(each.nominal);
    Configuration configuration{.priority_levels = {Limited("test-pl", 10000)},
                                .flow_schemas = {ForUser("jane", "test-pl")}};
    // Upstream's test has no queues, only a size of hand.
    configuration.priority_levels[0].queuing = QueuingConfiguration{0, each.hand_size, 0};
    world.controller->Configure(configuration);
    CHECK(world.Classify("jane").schema->level->max_seats == each.seats);
  }
}

namespace {

constexpr int kAllSeats = (40 + 100 + 5) * 6;

// The levels exempt, workload-high, workload-low and catch-all, each with a user of its own; one
// wide request stands for what a level demands.
class FourLevels : public World {
 public:
  FourLevels() : World(kAllSeats) {
    Configuration built_in = BuiltInConfiguration();
    std::erase_if(built_in.priority_levels, [](const PriorityLevelConfiguration& level) {
      return level.name != "exempt" && level.name != "catch-all" && level.name != "workload-high" &&
             level.name != "workload-low";
    });
    built_in.flow_schemas = {ForUser("exempt", "exempt"), ForUser("high", "workload-high"),
                             ForUser("mid", "workload-low"), ForUser("low", "catch-all")};
    controller->Configure(built_in);
  }
  ~FourLevels() {
    for (const auto& [user, held] : held_) held->queues().Finish(held->request);
  }

  // Instead of what `user` wanted before.
  void Want(const std::string& user, int seats) {
    if (const auto before = held_.find(user); before != held_.end()) {
      before->second->queues().Finish(before->second->request);
    }
    auto held = std::make_unique<Held>(Held{Classify(user), {}});
    held->request.work.initial_seats = seats;
    held->request.metrics = held->classified.schema->metrics;
    CHECK(held->queues().Start(held->request) == QueueSet::Decision::kExecute);
    held_[user] = std::move(held);
  }
  void Adjust(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      simulation.RunUntil(simulation.now() + 10s);
      controller->UpdateBorrowing();
    }
  }
  void CheckLimits(double exempt, double high, double mid, double low) {
    CHECK(Current("exempt") == exempt);
    CHECK(Current("workload-high") == high);
    CHECK(Current("workload-low") == mid);
    CHECK(Current("catch-all") == low);
  }

 private:
  std::map<std::string, std::unique_ptr<Held>> held_;
};

}  // namespace

TEST_CASE("flowcontrol: exempt requests find seats while all others wait or are refused",
          "[flowcontrol]") {
  FourLevels world;
  // Nobody else gets a seat any more.
  for (const char* user : {"high", "mid", "low"}) world.Want(user, kAllSeats);
  std::vector<std::unique_ptr<World::Held>> held;
  for (int i = 0; i < 2 * kAllSeats; ++i) {
    held.push_back(world.Start("exempt", QueueSet::Decision::kExecute));
  }
  const auto other = world.Start("low", QueueSet::Decision::kReject);
  for (const auto& each : held) each->queues().Finish(each->request);
}

// exempt_borrowing_test.go: TestUpdateBorrowing.
TEST_CASE("flowcontrol: what exempt requests take, the others give up", "[flowcontrol]") {
  FourLevels world;
  // Nominal, and what is left when all that is lendable is lent.
  CHECK(world.Nominal("workload-high") == 240);
  CHECK(world.Nominal("workload-low") == 600);
  CHECK(world.Nominal("catch-all") == 30);
  CHECK(world.Least("workload-high") == 120);
  CHECK(world.Least("workload-low") == 60);
  CHECK(world.Least("catch-all") == 30);

  // Everybody wants more than there is, and exempt requests have it.
  for (const char* user : {"exempt", "high", "mid", "low"}) world.Want(user, kAllSeats + 100);
  world.Adjust(1);
  world.CheckLimits(kAllSeats + 100, 120, 60, 30);

  // Exempt leaves the others halfway between their least and their nominal seats.
  world.Want("exempt", kAllSeats - (180 + 330 + 30));
  world.Adjust(2);
  world.CheckLimits(330, 180, 330, 30);

  // Only mid lends, and exempt takes all of it.
  world.Want("exempt", kAllSeats - (240 + 60 + 30));
  world.Want("mid", 1);
  world.Adjust(2);
  world.CheckLimits(540, 240, 60, 30);
}

namespace {

// Clients of one user, each of which asks again as soon as it is answered.
class Clients {
 public:
  Clients(World& world, std::string user, int count)
      : world_(world), user_(std::move(user)), executing_(world.simulation.Now()) {
    for (int i = 0; i < count; ++i) Ask();
  }
  double Average() { return executing_.Reset(world_.simulation.Now()).average; }

 private:
  void Ask() {
    held_.push_back(std::make_unique<World::Held>(World::Held{world_.Classify(user_), {}}));
    World::Held* const held = held_.back().get();
    held->request.flow_hash = held->classified.flow_hash;
    held->request.metrics = held->classified.schema->metrics;
    const auto decide = [this, held](bool execute) {
      // Refused: ask again, but not at once.
      if (!execute) return Later(10ms, [this] { Ask(); });
      executing_.Add(world_.simulation.Now(), 1);
      Later(250ms, [this, held] {
        executing_.Add(world_.simulation.Now(), -1);
        held->queues().Finish(held->request);
        Ask();
      });
    };
    switch (held->queues().Start(held->request)) {
      case QueueSet::Decision::kExecute:
        return decide(true);
      case QueueSet::Decision::kWait:
        return held->queues().Await(held->request, decide);
      case QueueSet::Decision::kReject:
        return decide(false);
    }
  }
  void Later(std::chrono::nanoseconds delay, Executor::Task task) {
    (void)world_.simulation.PostAfter(delay, std::move(task));
  }

  World& world_;
  std::string user_;
  Integrator executing_;
  // All that were ever asked for: those that wait at the end know whom to tell.
  std::vector<std::unique_ptr<World::Held>> held_;
};

}  // namespace

// borrowing_test.go: TestBorrowing, its two cases.
TEST_CASE("flowcontrol: a level borrows what another does not use", "[flowcontrol]") {
  struct Limits {
    int lendable;
    int borrowing;
  };
  const std::vector<std::pair<Limits, Limits>> cases = {{{50, 67}, {33, 50}},   // lendable-limited
                                                        {{50, 33}, {67, 50}}};  // borrowing-limited
  for (const auto& [first, second] : cases) {
    CAPTURE(first.borrowing, second.lendable);
    World world(24);
    world.controller->Configure(
        {.priority_levels = {Limited("test-pl0", 100, first.lendable, first.borrowing),
                             Limited("test-pl1", 100, second.lendable, second.borrowing)},
         .flow_schemas = {ForUser("user0", "test-pl0"), ForUser("user1", "test-pl1")}});
    Clients many(world, "user0", 24);
    Clients few(world, "user1", 6);
    const auto begin = world.simulation.now();
    for (int i = 1; i <= 2; ++i) {
      world.simulation.RunUntil(begin + 10s * i + 1ms);
      world.controller->UpdateBorrowing();
      if (i == 1) {
        (void)many.Average();
        (void)few.Average();
      }
    }
    world.simulation.RunUntil(begin + 25s);
    const double many_average = many.Average();
    const double few_average = few.Average();
    CHECK(many_average >= 15.5);
    CHECK(many_average <= 16.1);
    CHECK(few_average >= 5.5);
    CHECK(few_average <= 6.1);
  }
}

// controller_test.go: TestConfigConsumer, by our own generator of configurations.
TEST_CASE("flowcontrol: levels come and go, busy ones last", "[flowcontrol]") {
  std::mt19937_64 random(1234567890);
  for (int trial = 0; trial < 10; ++trial) {
    World world(100);
    std::set<std::string> busy;
    std::vector<std::unique_ptr<World::Held>> held;
    for (int step = 0; step < 20; ++step) {
      CAPTURE(trial, step);
      Configuration configuration;
      std::set<std::string> wanted;
      for (int i = 0; i < 6; ++i) {
        if (random() % 2 == 0) continue;
        const std::string name = "pl" + std::to_string(i);
        configuration.priority_levels.push_back(Limited(name, 1 + static_cast<int>(random() % 20)));
        if (random() % 8 == 0) {
          // A hand larger than its deck.
          configuration.priority_levels.back().queuing = QueuingConfiguration{2, 3, 10};
        } else {
          wanted.insert(name);
        }
      }
      for (int i = 0; i < 6; ++i) {
        const std::string name = "pl" + std::to_string(i);
        configuration.flow_schemas.push_back(ForUser("user" + std::to_string(i), name, 100 + i));
      }
      world.controller->Configure(configuration);
      std::set<std::string> expected = wanted;
      expected.insert(busy.begin(), busy.end());
      expected.insert({"catch-all", "exempt"});
      const std::vector<std::string> names = world.controller->PriorityLevels();
      CHECK(std::set<std::string>(names.begin(), names.end()) == expected);
      // Half of what was busy becomes idle, and goes if it is not wanted.
      for (auto& each : held) {
        if (random() % 2 == 0) continue;
        each->queues().Finish(each->request);
        busy.erase(each->classified.schema->level->config.name);
        each.reset();
      }
      std::erase(held, nullptr);
      for (const auto& each : held) busy.insert(each->classified.schema->level->config.name);
      world.simulation.RunUntil(world.simulation.now() + 1s);
      for (int i = 0; i < 6; ++i) {
        const std::string name = "pl" + std::to_string(i);
        const auto classified = world.Classify("user" + std::to_string(i));
        CHECK(classified.schema->level->config.name ==
              (wanted.contains(name) ? name : std::string("catch-all")));
        if (!wanted.contains(name) || random() % 2 == 0) continue;
        held.push_back(world.Start("user" + std::to_string(i), QueueSet::Decision::kExecute));
        busy.insert(name);
      }
    }
    for (auto& each : held) each->queues().Finish(each->request);
    world.simulation.RunUntil(world.simulation.now() + 1s);
    world.controller->Configure({});
    CHECK(world.controller->PriorityLevels() == std::vector<std::string>{"catch-all", "exempt"});
  }
}

TEST_CASE("flowcontrol: schemas are tried by precedence, then by name", "[flowcontrol]") {
  World world(100);
  FlowSchema late = ForUser("jane", "a", 200);
  FlowSchema early = ForUser("jane", "b", 100);
  FlowSchema earlier = early;
  late.name = "late";
  early.name = "early-b";
  earlier.name = "early-a";
  world.controller->Configure({.priority_levels = {Limited("a", 10), Limited("b", 10)},
                               .flow_schemas = {late, early, earlier}});
  CHECK(world.Classify("jane").schema->config.name == "early-a");
  CHECK(world.Classify("joe").schema->config.name == "catch-all");
}

TEST_CASE("flowcontrol: whoever no schema knows is caught", "[flowcontrol]") {
  World world(100);
  const auto nobody = std::make_shared<const auth::UserInfo>(auth::UserInfo{.name = "nobody"});
  CHECK(world.controller->Classify(world.info, nobody).schema->config.name == "catch-all");
}

// A request like the last one of its user is not matched anew.
TEST_CASE("flowcontrol: a remembered class is that of the user, the request and the configuration",
          "[flowcontrol]") {
  World world(600);
  const auto schema = [](std::string name, const std::string& user, const std::string& verb,
                         const std::string& space, FlowSchema::Distinguisher by) {
    return FlowSchema{.name = std::move(name),
                      .uid = {},
                      .priority_level = "mine",
                      .matching_precedence = 100,
                      .distinguisher = by,
                      .rules = {{.subjects = {{Subject::Kind::kUser, user}},
                                 .resource_rules = {{.verbs = {verb},
                                                     .api_groups = {"*"},
                                                     .resources = {"pods"},
                                                     .namespaces = {space}}},
                                 .non_resource_rules = {}}}};
  };
  using By = FlowSchema::Distinguisher;
  world.controller->Configure(
      {.priority_levels = {Limited("mine", 10)},
       .flow_schemas = {schema("of-get", "jane", "get", "one", By::kByUser),
                        schema("of-list", "jane", "list", "*", By::kByNamespace)}});
  const auto user = [](std::string name) {
    return std::make_shared<const auth::UserInfo>(
        auth::UserInfo{.name = std::move(name), .groups = {"system:authenticated"}});
  };
  const auto of = [&](const auth::UserInfoPtr& who, std::string verb, std::string_view space,
                      std::string_view resource = "pods") {
    const request::RequestInfo info{.is_resource_request = true,
                                    .verb = std::move(verb),
                                    .namespace_ = space,
                                    .resource = resource};
    const auto classified = world.controller->Classify(info, who);
    return classified.schema->config.name + "/" + std::string(classified.distinguisher);
  };
  const auto jane = user("jane");
  const std::string longest(5000, 'x');
  for (int round = 0; round < 3; ++round) {
    CHECK(of(jane, "get", "one") == "of-get/jane");
    CHECK(of(jane, "list", "one") == "of-list/one");
    CHECK(of(jane, "list", "two") == "of-list/two");
    CHECK(of(jane, "list", longest) == "of-list/" + longest);
    CHECK(of(jane, "get", "two") == "catch-all/");
    CHECK(of(jane, "get", "one", "nods") == "catch-all/");
    // Another one may get the memory of the one before.
    for (const std::string name : {"joe", "jim", "jill"}) {
      CHECK(of(user(name), "get", "one") == "catch-all/");
    }
  }
  world.controller->Configure({.priority_levels = {Limited("mine", 10)}, .flow_schemas = {}});
  CHECK(of(jane, "get", "one") == "catch-all/");
}

// The vector of SipHash's authors: bytes 0 to 14 under the key 0 to 15; byte 0 is our separator.
TEST_CASE("flowcontrol: flows are told apart by SipHash", "[flowcontrol]") {
  std::string bytes;
  for (char c = 1; c < 15; ++c) bytes += c;
  const FlowHash hash(0x0706050403020100U, 0x0f0e0d0c0b0a0908U);
  CHECK(hash("", bytes) == 0xa129ca6149be45e5U);
  CHECK(hash("a", "b") != hash("ab", ""));
  const auto one = NewSeededRandom(1);
  const auto two = NewSeededRandom(2);
  CHECK(FlowHash(*one)("a", "b") != FlowHash(*two)("a", "b"));
}

TEST_CASE("flowcontrol: dumps show levels, queues and requests", "[flowcontrol]") {
  World world(10);
  world.controller->Configure(
      {.priority_levels = {Limited("one", 1000)}, .flow_schemas = {ForUser("jane", "one")}});
  std::vector<std::unique_ptr<World::Held>> held;
  for (int i = 0; i < 10; ++i) {
    held.push_back(world.Start("jane", QueueSet::Decision::kExecute));
  }
  held.push_back(world.Start("jane", QueueSet::Decision::kWait));
  CHECK(world.controller->DumpPriorityLevels() ==
        "PriorityLevelName, ActiveQueues, IsIdle, IsQuiescing, WaitingRequests, "
        "ExecutingRequests, DispatchedRequests, RejectedRequests, TimedoutRequests, "
        "CancelledRequests\n"
        "catch-all,         0,            true,   false,       0,               "
        "0,                 0,                  0,                0,                0\n"
        "exempt,            0,            true,   false,       0,               "
        "0,                 0,                  0,                0,                0\n"
        "one,               1,            false,  false,       1,               "
        "10,                10,                 0,                0,                0\n");
  const std::string queues = world.controller->DumpQueues();
  CHECK(std::count(queues.begin(), queues.end(), '\n') == 11);
  CHECK(queues.starts_with(
      "PriorityLevelName, Index,  PendingRequests, ExecutingRequests, SeatsInUse, NextDispatchR, "
      "InitialSeatsSum, MaxSeatsSum, TotalWorkSum\n"
      "one,               0,      "));
  const std::string requests = world.controller->DumpRequests(/*with_details=*/true);
  CHECK(std::count(requests.begin(), requests.end(), '\n') == 12);
  CHECK(requests.starts_with(
      "PriorityLevelName, FlowSchemaName, QueueIndex, RequestIndexInQueue, FlowDistingsher, "
      "ArriveTime,           InitialSeats, FinalSeats, AdditionalLatency, StartTime,            "
      "UserName, Verb,   APIPath, Namespace, Name,   APIVersion, Resource, SubResource\n"));
  CHECK(requests.find("2020-09-13T12:26:40Z, 1,            0,          0s,                "
                      "0001-01-01T00:00:00Z, jane,     GET,    /foobar, ") != std::string::npos);
  for (std::size_t i = 0; i < 11; ++i) held[i]->queues().Finish(held[i]->request);
}

TEST_CASE("flowcontrol: metrics tell how far each level has come", "[flowcontrol]") {
  World world(10);
  world.controller->Configure(
      {.priority_levels = {Limited("one", 1000)}, .flow_schemas = {ForUser("jane", "one")}});
  const auto held = world.Start("jane", QueueSet::Decision::kExecute);
  world.simulation.RunUntil(world.simulation.now() + 2s);
  held->queues().Finish(held->request);
  world.controller->ShowProgress();
  const std::string text = world.registry->Serialize();
  const auto has = [&text](const std::string& line) {
    INFO(line);
    CHECK(text.find(line + "\n") != std::string::npos);
  };
  has("apiserver_flowcontrol_current_r{priority_level=\"one\"} 2");
  has("apiserver_flowcontrol_nominal_limit_seats{priority_level=\"one\"} 10");
  has("apiserver_flowcontrol_current_executing_requests{priority_level=\"one\","
      "flow_schema=\"schema-of-jane\"} 0");
  has("# TYPE apiserver_flowcontrol_rejected_requests_total counter");
  has("# HELP apiserver_flowcontrol_seat_fair_frac [ALPHA] Fair fraction of server's concurrency "
      "to allocate to each priority level that can use it");
}

// Names, labels, buckets and help of util/flowcontrol/metrics/metrics.go; limits as
// finishQueueSetReconfigsLocked and updateBorrowingLocked set them.
TEST_CASE("flowcontrol: what is in use is told over time, as shares of the levels' limits",
          "[flowcontrol]") {
  World world(40);
  world.controller->Configure(
      {.priority_levels = {Limited("one", 1000),
                           {.name = "exempt",
                            .uid = {},
                            .exempt = true,
                            .nominal_concurrency_shares = 0,
                            .queuing = {}}},
       .flow_schemas = {ForUser("jane", "one"), ForUser("root", "exempt")}});
  // 40 * 1000 / 1005, rounded up; of the server's limit a tenth where a level has no seats.
  REQUIRE(world.Current("one") == 40);
  REQUIRE(world.Current("exempt") == 0);
  const auto jane = world.Start("jane", QueueSet::Decision::kExecute);
  const auto root = world.Start("root", QueueSet::Decision::kExecute);
  world.watermarks->executing(false).Add(1, world.simulation.Now());
  world.watermarks->waiting(true).Add(1, world.simulation.Now());
  world.simulation.RunUntil(world.simulation.now() + 2s);
  world.controller->ShowProgress();
  world.watermarks->ShowOverTime(world.simulation.Now());
  const std::string text = world.registry->Serialize();
  const auto has = [&text](const std::string& line) {
    INFO(line);
    CHECK(text.find("apiserver_flowcontrol_" + line + "\n") != std::string::npos);
  };
  const std::string over_time =
      " EXPERIMENTAL: [ALPHA] Observations, at the end of every nanosecond, of ";
  has("priority_level_seat_utilization" + over_time +
      "utilization of seats for any stage of execution (but only initial stage for WATCHes)");
  has("priority_level_request_utilization" + over_time +
      "number of requests (as a fraction of the relevant limit) waiting or in any stage of "
      "execution (but only initial stage for WATCHes)");
  has("read_vs_write_current_requests" + over_time +
      "the number of requests (as a fraction of the relevant limit) waiting or in regular stage "
      "of execution");
  has("demand_seats" + over_time +
      "(the number of seats each priority level could use) / (nominal number of seats for that "
      "level)");
  const std::string seats_one =
      "priority_level_seat_utilization_bucket{priority_level=\"one\",phase=\"executing\",le=";
  has(seats_one + "\"0\"} 0");
  has(seats_one + "\"0.1\"} 2000000000");
  has(seats_one + "\"+Inf\"} 2000000000");
  has("priority_level_seat_utilization_sum{priority_level=\"exempt\",phase=\"executing\"} 5e+08");
  has("priority_level_request_utilization_bucket{priority_level=\"one\",phase=\"executing\",le="
      "\"0.01\"} 0");
  has("priority_level_request_utilization_bucket{priority_level=\"one\",phase=\"executing\",le="
      "\"0.03\"} 2000000000");
  has("priority_level_request_utilization_bucket{priority_level=\"one\",phase=\"waiting\",le="
      "\"0\"} 2000000000");
  has("demand_seats_sum{priority_level=\"one\"} 5e+07");
  has("demand_seats_bucket{priority_level=\"exempt\",le=\"0.2\"} 0");
  has("demand_seats_bucket{priority_level=\"exempt\",le=\"0.4\"} 2000000000");
  // Of 41 seats, catch-all's one among them, and of 100 places in queues.
  has("read_vs_write_current_requests_bucket{phase=\"executing\",request_kind=\"readOnly\",le="
      "\"0.01\"} 0");
  has("read_vs_write_current_requests_bucket{phase=\"executing\",request_kind=\"readOnly\",le="
      "\"0.1\"} 2000000000");
  has("read_vs_write_current_requests_sum{phase=\"waiting\",request_kind=\"mutating\"} "
      "2e+07");
  jane->queues().Finish(jane->request);
  root->queues().Finish(root->request);
}

TEST_CASE("flowcontrol: a level that goes is told until then", "[flowcontrol]") {
  World world(40);
  world.controller->Configure(
      {.priority_levels = {Limited("one", 1000)}, .flow_schemas = {ForUser("jane", "one")}});
  const auto jane = world.Start("jane", QueueSet::Decision::kExecute);
  world.controller->Configure({});
  world.simulation.RunUntil(world.simulation.now() + 1s);
  CHECK(world.metrics.Of("one").seat_utilization.count(1) == 0);
  jane->queues().Finish(jane->request);
  world.simulation.RunUntil(world.simulation.now() + 1s);
  CHECK(world.controller->PriorityLevels() == std::vector<std::string>{"catch-all", "exempt"});
  CHECK(world.metrics.Of("one").seat_utilization.count(1) == 1'000'000'000);
}

}  // namespace apiserver::inline v0::flowcontrol
