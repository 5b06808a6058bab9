// Max in flight, and priority and fairness, as filters and in a server.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "apiserver/request/latency.h"
#include "apiserver/response/response.h"
#include "apiserver/testing/server/fake_clock.h"
#include "contains.h"
#include "filter_fixture.h"
#include "server/requests/flow_control.h"
#include "widget_server.h"

namespace apiserver::inline v0::testing {

namespace {

using server::FlowControlConfig;
using server::FlowControlParts;
using namespace std::chrono_literals;
using Mode = FlowControlConfig::Mode;

// The user and her group that a request's headers name.
class NamedUser final : public http::Filter {
 public:
  std::string_view name() const override { return "named-user"; }
  http::Step Begin(http::Exchange& exchange) const override {
    const http::Headers& headers = exchange.request().headers;
    exchange.Set(auth::UserInfoPtr(std::make_shared<auth::UserInfo>(
        auth::UserInfo{.name = std::string(headers.Get("User")),
                       .groups = {"system:authenticated", std::string(headers.Get("Group"))}})));
    return http::Step::Next();
  }
};

// More than an in-process client is given before it reads.
constexpr std::size_t kLargeBytes = 4 << 20;

// A large answer that is made as it is sent.
class LargeBody final : public http::BodySource {
 public:
  http::Pull Next(http::ChunkWriter& out, const Waker&) override {
    if (left_ == 0) return http::Pull::kEnd;
    const std::size_t bytes = std::min<std::size_t>(left_, 64 << 10);
    out.Take(std::string(bytes, 'x'));
    left_ -= bytes;
    return http::Pull::kMore;
  }

 private:
  std::size_t left_ = kLargeBytes;
};

// A filter before a handler that keeps requests to /wait, and the verb watch, until told; /large
// and /stream are answered with kLargeBytes.
class Harness {
 public:
  explicit Harness(FlowControlConfig config, std::chrono::milliseconds request_timeout = 60s)
      : parts_(config, {.clock = filter_clock,
                        .random = SecureRandom(),
                        .executor = *pool_,
                        .metrics = registry,
                        .log = NullLogSink()}),
        fixture_(ChainOf(
            server::NewRequestInfo(), server::NewLatencyTrackers(),
            server::FilterPtr(new NamedUser),
            config.mode == Mode::kMaxInFlight
                ? server::NewMaxInFlight(parts_, Counted())
                : server::NewPriorityAndFairness(parts_, request_timeout, filter_clock, Counted()),
            server::NewBody(3 << 20), server::NewSeatAgain())) {
    fixture_.handler = [this](http::Exchange& exchange) { return Handle(exchange); };
  }
  ~Harness() { Release(); }

  http::ClientResponse Call(std::string method, std::string target, http::Headers headers = {}) {
    return fixture_.Call(std::move(method), std::move(target), std::move(headers));
  }
  // An answer may be there before the seat of who got it is free.
  bool IsServedAgain(const std::string& method, const std::string& target,
                     const http::Headers& headers) {
    const auto deadline = RealClock().Now() + 60s;
    while (Call(method, target, headers).code != 200) {
      if (RealClock().Now() > deadline) return false;
    }
    return true;
  }
  using Stream = std::unique_ptr<http::ClientStream>;
  Stream Open(std::string method, std::string target, http::Headers headers = {},
              std::string body = "") {
    return fixture_.connection()
        .Open({.method = std::move(method),
               .target = std::move(target),
               .headers = std::move(headers),
               .body = std::move(body)})
        .value();
  }
  // The share that bodies count in; while it is full they wait.
  FairShare& bodies() { return fixture_.service().memory->bodies; }
  // Whether so many bodies wait for room.
  bool BodiesWait(std::size_t count) {
    const auto deadline = RealClock().Now() + 10s;
    while (bodies().waiting() != count) {
      if (RealClock().Now() > deadline) return false;
    }
    return true;
  }
  static int CodeOf(const Stream& stream) {
    return stream->Head(Context::Background()).value().code;
  }
  // Whether so many requests are being handled now.
  bool Holds(std::size_t count) {
    auto held = held_.Lock();
    return held.WaitUntil(RealClock().Now() + 60s, [&] { return held->size() == count; });
  }
  // Whether so many wait for a seat.
  bool Waits(int count) {
    const auto deadline = RealClock().Now() + 60s;
    while (Waiting() != count) {
      if (RealClock().Now() > deadline) return false;
      Notification never;
      (void)never.WaitFor(1ms);
    }
    return true;
  }
  // Lets all that are held be answered; returns how many.
  std::size_t Release() {
    std::vector<Held> held = std::exchange(*held_.Lock(), std::vector<Held>());
    for (Held& each : held) {
      each.resume.OnLoop([exchange = each.exchange] {
        exchange->writer().Send({}, "waited");
        return http::Step::Done();
      });
    }
    return held.size();
  }

  // Tells those that are watches that they have begun; returns how many there were.
  std::size_t Initialize() {
    std::size_t watches = 0;
    auto held = held_.Lock();
    for (Held& each : *held) {
      auto* wants = each.exchange->ctx().Mutable<response::WatchInitialized>();
      if (!wants) continue;
      wants->call();
      ++watches;
    }
    return watches;
  }
  // Whether no watch is counted any more.
  bool Forgets() {
    const auto deadline = RealClock().Now() + 60s;
    while (controller().watches().size() > 0) {
      if (RealClock().Now() > deadline) return false;
    }
    return true;
  }

  // Two seats and a queue of two for user jane; one seat and no queue for joe.
  void ConfigureTwoLevels() {
    const auto schema = [](std::string user, std::string level) {
      return flowcontrol::FlowSchema{
          .name = "of-" + user,
          .uid = "uid-of-" + user,
          .priority_level = std::move(level),
          .matching_precedence = 100,
          .distinguisher = flowcontrol::FlowSchema::Distinguisher::kByUser,
          .rules = {{.subjects = {{flowcontrol::Subject::Kind::kUser, user}},
                     .resource_rules = {{{"*"}, {"*"}, {"*"}, true, {"*"}}},
                     .non_resource_rules = {{{"*"}, {"*"}}}}}};
    };
    parts_.controller()->Configure(
        {.priority_levels = {{.name = "queued",
                              .uid = "uid-of-queued",
                              .nominal_concurrency_shares = 2000,
                              .borrowing_limit_percent = 0,
                              .queuing = flowcontrol::QueuingConfiguration{1, 1, 2}},
                             {.name = "refused",
                              .uid = "",
                              .nominal_concurrency_shares = 1000,
                              .borrowing_limit_percent = 0,
                              .queuing = {}}},
         .flow_schemas = {schema("jane", "queued"), schema("joe", "refused")}});
  }
  flowcontrol::Controller& controller() { return *parts_.controller(); }
  FlowControlParts& parts() { return parts_; }

  // How long each request that is held has waited.
  std::vector<std::chrono::nanoseconds> Waited() {
    std::vector<std::chrono::nanoseconds> waited;
    const auto held = held_.Lock();
    for (Held& each : *held) {
      waited.push_back(
          each.exchange->Get<request::LatencyTrackers>().Of(request::Layer::kAPFQueueWait));
    }
    return waited;
  }

  FakeClock filter_clock;  // Of how long requests wait, and are served.
  const std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();

 private:
  // Widgets are served.
  server::RefusalMetrics Counted() {
    return {.metrics = &request_metrics_, .installed = [](const request::RequestInfo& info) {
              return info.resource == "widgets";
            }};
  }
  struct Held {
    std::shared_ptr<http::Exchange> exchange;
    http::Resume resume;
  };

  http::Step Handle(http::Exchange& exchange) {
    const auto& info = exchange.Get<request::RequestInfo>();
    if (info.path == "/large") {
      exchange.writer().Send({}, std::string(kLargeBytes, 'x'));
      return http::Step::Done();
    }
    if (info.path == "/stream") {
      exchange.writer().Stream({}, std::make_unique<LargeBody>());
      return http::Step::Done();
    }
    if (info.path != "/wait" && info.verb != "watch") {
      exchange.writer().Send({}, "handled");
      return http::Step::Done();
    }
    return http::Step::Later([this, &exchange](http::Resume resume) {
      held_.Lock()->push_back({exchange.Share(), std::move(resume)});
      held_.NotifyAll();
    });
  }
  int Waiting() {
    return parts_.watermarks().waiting(false).count() + parts_.watermarks().waiting(true).count();
  }

  server::RequestMetrics request_metrics_{*registry};
  std::unique_ptr<ThreadPool> pool_ = NewThreadPool({.name = "flow", .threads = 1});
  FlowControlParts parts_;
  Guarded<std::vector<Held>> held_;
  FilterFixture fixture_;
};

void CheckRefusal(const http::ClientResponse& response, const char* retry_after) {
  CHECK(response.code == 429);
  CHECK(response.body == "Too many requests, please try again later.\n");
  CHECK(response.headers.Get("Retry-After") == retry_after);
  CHECK(response.headers.Get("Content-Type") == "text/plain; charset=utf-8");
  CHECK(response.headers.Get("X-Content-Type-Options") == "nosniff");
}

std::size_t BytesOf(const Harness::Stream& stream) {
  std::size_t bytes = 0;
  for (;;) {
    const std::string read = stream->Read(Context::Background()).value();
    if (read.empty()) return bytes;
    bytes += read.size();
  }
}

const http::Headers kAsJane = {{"User", "jane"}};
const http::Headers kJoe = {{"User", "joe"}};
const http::Headers kMaster = {{"User", "root"}, {"Group", "system:masters"}};

}  // namespace

// maxinflight_test.go: TestMaxInFlightNonMutating.
TEST_CASE("server: one read too many is refused at once", "[server]") {
  Harness harness({.mode = Mode::kMaxInFlight,
                   .max_requests_in_flight = 3,
                   .max_mutating_requests_in_flight = 1});
  std::vector<Harness::Stream> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(harness.Open("GET", "/api/v1/namespaces/default/wait?watch=true", kAsJane));
  }
  REQUIRE(harness.Holds(3));
  // Watches do not count.
  CHECK(harness.Call("GET", "/dontwait", kAsJane).code == 200);
  for (int i = 0; i < 3; ++i) streams.push_back(harness.Open("GET", "/wait", kAsJane));
  REQUIRE(harness.Holds(6));
  for (int i = 0; i < 2; ++i) CheckRefusal(harness.Call("GET", "/", kAsJane), "1");
  streams.push_back(harness.Open("GET", "/api/v1/watch/namespaces/default/dontwait", kAsJane));
  CHECK(harness.Holds(7));
  CHECK(harness.Call("POST", "/dontwait", kAsJane).code == 200);
  CHECK(harness.Release() == 7);
  for (const auto& stream : streams) CHECK(Harness::CodeOf(stream) == 200);
  CHECK(harness.IsServedAgain("GET", "/", kAsJane));
}

// TestMaxInFlightMutating, TestMaxInFlightSkipsMasters.
TEST_CASE("server: one write too many is refused, but not a master's", "[server]") {
  Harness harness({.mode = Mode::kMaxInFlight,
                   .max_requests_in_flight = 1,
                   .max_mutating_requests_in_flight = 3});
  std::vector<Harness::Stream> streams;
  for (int i = 0; i < 3; ++i) streams.push_back(harness.Open("POST", "/wait", kAsJane));
  REQUIRE(harness.Holds(3));
  for (int i = 0; i < 2; ++i) CheckRefusal(harness.Call("POST", "/foo/bar/", kAsJane), "1");
  CHECK(harness.Call("GET", "/dontwait", kAsJane).code == 200);
  CHECK(harness.Call("POST", "/dontwait", kMaster).code == 200);
  CHECK(harness.Release() == 3);
  for (const auto& stream : streams) CHECK(Harness::CodeOf(stream) == 200);
  CHECK(harness.IsServedAgain("POST", "/foo/bar", kAsJane));
}

TEST_CASE("server: zero in flight is no limit", "[server]") {
  Harness harness({.mode = Mode::kMaxInFlight,
                   .max_requests_in_flight = 0,
                   .max_mutating_requests_in_flight = 0});
  std::vector<Harness::Stream> streams;
  for (int i = 0; i < 20; ++i) streams.push_back(harness.Open("GET", "/wait", kAsJane));
  CHECK(harness.Holds(20));
}

TEST_CASE("server: a request that finds no seat waits for one, without a thread", "[server]") {
  Harness harness({.max_requests_in_flight = 3, .max_mutating_requests_in_flight = 0});
  harness.ConfigureTwoLevels();
  std::vector<Harness::Stream> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(harness.Open("GET", "/wait", kAsJane));
  REQUIRE(harness.Holds(2));
  for (int i = 0; i < 2; ++i) streams.push_back(harness.Open("POST", "/wait", kAsJane));
  REQUIRE(harness.Waits(2));
  // The queue is full; another level is not, nor is whoever is exempt.
  CheckRefusal(harness.Call("GET", "/", kAsJane), "1");
  const auto other = harness.Call("GET", "/", kJoe);
  CHECK(other.code == 200);
  CHECK(other.headers.Get("X-Kubernetes-PF-FlowSchema-UID") == "uid-of-joe");
  CHECK_FALSE(other.headers.Has("X-Kubernetes-PF-PriorityLevel-UID"));
  CHECK(harness.Call("GET", "/", kMaster).code == 200);
  CHECK(harness.Release() == 2);
  CHECK(harness.Holds(2));
  CHECK(harness.Release() == 2);
  for (const auto& stream : streams) {
    const auto head = stream->Head(Context::Background()).value();
    CHECK(head.code == 200);
    CHECK(head.headers.Get("X-Kubernetes-PF-FlowSchema-UID") == "uid-of-jane");
    CHECK(head.headers.Get("X-Kubernetes-PF-PriorityLevel-UID") == "uid-of-queued");
  }
}

// Row 74.
TEST_CASE("server: a request whose body is still to come holds no seat", "[server]") {
  const Mode mode = GENERATE(Mode::kPriorityAndFairness, Mode::kMaxInFlight);
  const bool fair = mode == Mode::kPriorityAndFairness;
  Harness harness({.mode = mode,
                   .max_requests_in_flight = fair ? 3 : 100,
                   .max_mutating_requests_in_flight = fair ? 0 : 1});
  // One seat for joe's writes.
  if (fair) harness.ConfigureTwoLevels();
  const std::size_t all = harness.bodies().bytes_max();
  harness.bodies().Add(all);
  const auto slow = harness.Open("POST", "/wait", kJoe, "body");
  REQUIRE(harness.BodiesWait(1));

  CHECK(harness.Call("POST", "/", kJoe).code == 200);
  const auto quick = harness.Open("POST", "/wait", kJoe);
  REQUIRE(harness.Holds(1));
  CheckRefusal(harness.Call("POST", "/", kJoe), "1");
  // Its body has come, but the seat is another's now.
  harness.bodies().Release(all);
  CHECK(Harness::CodeOf(slow) == 429);

  CHECK(harness.Release() == 1);
  CHECK(Harness::CodeOf(quick) == 200);
  const auto again = harness.Open("POST", "/wait", kJoe, "body");
  REQUIRE(harness.Holds(1));
  CheckRefusal(harness.Call("POST", "/", kJoe), "1");
  CHECK(harness.Release() == 1);
  CHECK(Harness::CodeOf(again) == 200);
  CHECK(harness.IsServedAgain("POST", "/", kJoe));
}

TEST_CASE("server: a request whose body has come waits for a seat like any other", "[server]") {
  Harness harness({.max_requests_in_flight = 3, .max_mutating_requests_in_flight = 0});
  harness.ConfigureTwoLevels();
  std::vector<Harness::Stream> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(harness.Open("POST", "/wait", kAsJane));
  REQUIRE(harness.Holds(2));
  streams.push_back(harness.Open("POST", "/wait", kAsJane, "body"));
  REQUIRE(harness.Waits(1));

  CHECK(harness.Release() == 2);
  REQUIRE(harness.Holds(1));
  CHECK(harness.Release() == 1);

  for (const auto& stream : streams) CHECK(Harness::CodeOf(stream) == 200);
  CHECK(harness.Waits(0));
  // Seats are counted once a request, given up or not.
  CHECK(harness.IsServedAgain("GET", "/", kAsJane));
  const std::string text = harness.registry->Serialize();
  CHECK(Contains(text,
                 "apiserver_flowcontrol_dispatched_requests_total{"
                 "priority_level=\"queued\",flow_schema=\"of-jane\"} 4\n"));
}

// Go's handler returns when its answer is in the buffers; a stream's goes on until it is read.
TEST_CASE("server: an answer that is made has no seat, however slowly it is read", "[server]") {
  Harness harness({.max_requests_in_flight = 3, .max_mutating_requests_in_flight = 0});
  harness.ConfigureTwoLevels();
  const auto large = harness.Open("GET", "/large", kJoe);
  REQUIRE(Harness::CodeOf(large) == 200);
  CHECK(harness.Call("GET", "/", kJoe).code == 200);
  const auto stream = harness.Open("GET", "/stream", kJoe);
  REQUIRE(Harness::CodeOf(stream) == 200);
  CheckRefusal(harness.Call("GET", "/", kJoe), "1");
  CHECK(harness.Call("GET", "/", kMaster).code == 200);
  CHECK(BytesOf(large) == kLargeBytes);
  CHECK(BytesOf(stream) == kLargeBytes);
  CHECK(harness.IsServedAgain("GET", "/", kJoe));
}

// apf_filter_test.go: TestQueueWaitTimeLatencyTracker.
TEST_CASE("server: how long a request waits for its seat is known to whoever serves it",
          "[server]") {
  Harness harness({.max_requests_in_flight = 3, .max_mutating_requests_in_flight = 0});
  harness.ConfigureTwoLevels();
  std::vector<Harness::Stream> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(harness.Open("GET", "/wait", kAsJane));
  REQUIRE(harness.Holds(2));
  CHECK(harness.Waited() == std::vector<std::chrono::nanoseconds>{0s, 0s});
  streams.push_back(harness.Open("GET", "/wait", kAsJane));
  REQUIRE(harness.Waits(1));
  harness.filter_clock.Advance(25s);
  CHECK(harness.Release() == 2);
  REQUIRE(harness.Holds(1));
  CHECK(harness.Waited() == std::vector<std::chrono::nanoseconds>{25s});
}

TEST_CASE("server: reads and writes that are served or wait are told over time", "[server]") {
  const Mode mode = GENERATE(Mode::kPriorityAndFairness, Mode::kMaxInFlight);
  const bool queues = mode == Mode::kPriorityAndFairness;
  Harness harness(
      {.mode = mode, .max_requests_in_flight = 2, .max_mutating_requests_in_flight = 1});
  if (queues) harness.ConfigureTwoLevels();
  std::vector<Harness::Stream> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(harness.Open("GET", "/wait", kAsJane));
  REQUIRE(harness.Holds(2));
  if (queues) streams.push_back(harness.Open("PUT", "/wait", kAsJane));
  if (queues) REQUIRE(harness.Waits(1));
  harness.filter_clock.Advance(3s);
  const auto sum = [&harness](const std::string& phase, const std::string& kind) {
    const std::string text = harness.registry->Serialize();
    const std::string series = "apiserver_flowcontrol_read_vs_write_current_requests_sum{phase=\"" +
                               phase + "\",request_kind=\"" + kind + "\"} ";
    const std::size_t at = text.find(series);
    REQUIRE(at != std::string::npos);
    return std::stod(text.substr(at + series.size()));
  };
  // Two of two; with levels, two of the four seats that three make when they are rounded up.
  CHECK(sum("executing", "readOnly") == (queues ? 1.5e9 : 3e9));
  CHECK(sum("executing", "mutating") == 0);
  // One of two places.
  CHECK(sum("waiting", "mutating") == (queues ? 1.5e9 : 0));
  CHECK(sum("waiting", "readOnly") == 0);
  CHECK(harness.Release() == 2);
  for (int i = 0; i < 2; ++i) CHECK(Harness::CodeOf(streams[i]) == 200);
  if (queues) REQUIRE(harness.Holds(1));
  harness.filter_clock.Advance(4s);
  CHECK(sum("executing", "readOnly") == (queues ? 1.5e9 : 3e9));
  CHECK(sum("executing", "mutating") == (queues ? 1e9 : 0));
  CHECK(sum("waiting", "mutating") == (queues ? 1.5e9 : 0));
}

TEST_CASE("server: who is refused is counted, without making series of what is not served",
          "[server]") {
  const Mode mode = GENERATE(Mode::kPriorityAndFairness, Mode::kMaxInFlight);
  Harness harness(
      {.mode = mode, .max_requests_in_flight = 1, .max_mutating_requests_in_flight = 1});
  if (mode == Mode::kPriorityAndFairness) harness.ConfigureTwoLevels();
  const auto held = harness.Open("GET", "/wait", kJoe);
  REQUIRE(harness.Holds(1));
  for (const char* target : {"/apis/example.com/v1/widgets", "/apis/example.com/v1/widgets",
                             "/apis/example.com/v1/gadgets", "/nowhere/1", "/nowhere/2"}) {
    REQUIRE(harness.Call("GET", target, kJoe).code == 429);
  }
  const std::string text = harness.registry->Serialize();
  const std::string widgets =
      "group=\"example.com\",version=\"v1\",resource=\"widgets\",subresource=\"\",scope="
      "\"cluster\",component=\"apiserver\",code=\"429\"} 2\n";
  const std::string others =
      "group=\"\",version=\"\",resource=\"\",subresource=\"\",scope=\"\",component="
      "\"apiserver\",code=\"429\"} 2\n";
  INFO(text);
  CHECK(Contains(text, "apiserver_request_terminations_total{verb=\"LIST\"," + widgets));
  CHECK(Contains(text, "apiserver_request_terminations_total{verb=\"GET\"," + others));
  CHECK(Contains(text, "apiserver_request_total{verb=\"LIST\",dry_run=\"\"," + widgets));
  CHECK(Contains(text, "apiserver_request_total{verb=\"GET\",dry_run=\"\"," + others));
  CHECK_FALSE(Contains(text, "gadgets"));
  CHECK_FALSE(Contains(text, "nowhere"));
}

TEST_CASE("server: without a queue whoever finds no seat is refused", "[server]") {
  Harness harness({.max_requests_in_flight = 3, .max_mutating_requests_in_flight = 0});
  harness.ConfigureTwoLevels();
  const auto stream = harness.Open("GET", "/wait", kJoe);
  REQUIRE(harness.Holds(1));
  const auto refused = harness.Call("GET", "/", kJoe);
  CheckRefusal(refused, "1");
  CHECK(refused.headers.Get("X-Kubernetes-PF-FlowSchema-UID") == "uid-of-joe");
  CHECK(harness.Release() == 1);
  CHECK(Harness::CodeOf(stream) == 200);
}

TEST_CASE("server: nobody waits longer than a quarter of the time there is", "[server]") {
  Harness harness({.max_requests_in_flight = 3, .max_mutating_requests_in_flight = 0}, 200ms);
  harness.ConfigureTwoLevels();
  std::vector<Harness::Stream> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(harness.Open("GET", "/wait", kAsJane));
  REQUIRE(harness.Holds(2));
  const auto asked = RealClock().Now();
  CheckRefusal(harness.Call("GET", "/", kAsJane), "1");
  CHECK(RealClock().Now() - asked >= 50ms);
  CHECK(harness.Waits(0));
  CHECK(harness.registry->Serialize().find(
            "apiserver_flowcontrol_rejected_requests_total{priority_level=\"queued\","
            "flow_schema=\"of-jane\",reason=\"time-out\"} 1\n") != std::string::npos);
}

TEST_CASE("server: who goes away while waiting frees its place", "[server]") {
  Harness harness({.max_requests_in_flight = 3, .max_mutating_requests_in_flight = 0});
  harness.ConfigureTwoLevels();
  std::vector<Harness::Stream> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(harness.Open("GET", "/wait", kAsJane));
  REQUIRE(harness.Holds(2));
  streams.push_back(harness.Open("GET", "/wait", kAsJane));
  REQUIRE(harness.Waits(1));
  streams.back()->Cancel();
  CHECK(harness.Waits(0));
  CHECK(harness.Holds(2));
}

TEST_CASE("server: a watch has seats until it has begun, and writes count it", "[server]") {
  Harness harness({.max_requests_in_flight = 3, .max_mutating_requests_in_flight = 0});
  harness.ConfigureTwoLevels();
  const std::string pods = "/api/v1/namespaces/default/pods";
  const auto watch = harness.Open("GET", pods + "?watch=true", kJoe);
  REQUIRE(harness.Holds(1));
  CHECK(harness.controller().watches().size() == 1);
  CheckRefusal(harness.Call("GET", "/", kJoe), "1");
  CHECK(harness.Initialize() == 1);
  CHECK(harness.Call("GET", "/", kJoe).code == 200);
  CHECK(harness.controller().watches().size() == 1);
  CHECK(harness.Release() == 1);
  CHECK(Harness::CodeOf(watch) == 200);
  CHECK(harness.Forgets());
}

TEST_CASE("server: a server is flow controlled from its built-in configuration", "[server]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->server().flow_control() != nullptr);

  const auto levels = server->Call("GET", "/debug/api_priority_and_fairness/dump_priority_levels");
  CHECK(levels.code == 200);
  CHECK(Contains(levels.body, "PriorityLevelName, ActiveQueues,"));
  CHECK(Contains(levels.body, "\nworkload-low, "));
  const auto queues = server->Call("GET", "/debug/api_priority_and_fairness/dump_queues");
  CHECK(Contains(queues.body, "\nleader-election,   15, "));
  const auto requests =
      server->Call("GET", "/debug/api_priority_and_fairness/dump_requests?includeRequestDetails=1");
  // The request that asks.
  CHECK(Contains(requests.body, "system:apiserver, get, "));
  CHECK(Contains(requests.body, "\nexempt,"));
  for (const char* hook :
       {"priority-and-fairness-filter", "priority-and-fairness-config-consumer"}) {
    CHECK(server->Call("GET", std::string("/readyz/poststarthook/") + hook).code == 200);
  }
  CHECK(Contains(server->Call("GET", "/metrics").body,
                 "apiserver_flowcontrol_nominal_limit_seats{priority_level=\"workload-low\"} 245"));
}

TEST_CASE("server: a watch gives its seat back when it has sent what there was", "[server]") {
  const auto server = StartWidgetServer();
  REQUIRE(server->Call("POST", kWidgets, Widget("one", 1)).code == 201);
  const auto connection = server->server().LoopbackConnection();
  const auto watch =
      connection->Open({.target = std::string(kWidgets) + "?watch=true&resourceVersion=0"});
  REQUIRE(watch.ok());
  REQUIRE((*watch)->Read(Context::Background()).ok());
  // The one that asks is left.
  const std::string line =
      "apiserver_flowcontrol_current_executing_requests{priority_level=\"exempt\",flow_schema="
      "\"exempt\"} 1\n";
  const auto deadline = RealClock().Now() + 60s;
  while (!Contains(server->Call("GET", "/metrics").body, line)) {
    REQUIRE(RealClock().Now() < deadline);
  }
}

TEST_CASE("server: a list takes seats by how much is stored", "[server]") {
  const auto server = StartWidgetServer();
  const std::string large = std::string(100'000, 'x');
  for (const char* name : {"one", "two", "three"}) {
    REQUIRE(server
                ->Call("POST", kWidgets,
                       R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":")" +
                           std::string(name) + R"("},"spec":{"color":")" + large + R"("}})")
                .code == 201);
  }
  // Seats of all requests so far, and what the list of `target` adds.
  const auto seats = [&server] {
    const std::string series =
        "\napiserver_flowcontrol_work_estimated_seats_sum{priority_level=\"exempt\",flow_schema="
        "\"exempt\"} ";
    const std::string text = server->Call("GET", "/metrics").body;
    const std::size_t at = text.find(series);
    REQUIRE(at != std::string::npos);
    return std::stoi(text.substr(at + series.size()));
  };
  const auto seats_of = [&](const std::string& target, int code = 200) {
    const int before = seats();
    CHECK(server->Call("GET", target).code == code);
    // The one that asks is counted too.
    return seats() - before - 1;
  };
  // A bit more than 300 KB, a seat for each 100 KB.
  CHECK(seats_of(kWidgets) == 4);
  CHECK(seats_of("/apis/example.com/v1alpha1/widgets") == 4);
  CHECK(seats_of(std::string(kWidgets) + "?limit=1") == 2);
  CHECK(seats_of(std::string(kWidgets) + "?fieldSelector=metadata.name%3Done") == 2);
  CHECK(seats_of(std::string(kWidgets) + "/one") == 1);
  // What is not served is not known.
  CHECK(seats_of("/apis/example.com/v1/gadgets", 404) == 1);
  CHECK(seats_of("/apis/elsewhere.com/v1/widgets", 404) == 1);
}

TEST_CASE("server: limits that contradict stop the start", "[server]") {
  const auto why = [](FlowControlConfig flow_control) {
    server::Config config;
    config.authenticator = std::make_shared<Anybody>();
    config.flow_control = flow_control;
    return std::string(std::move(config).Complete().status().message());
  };
  CHECK(Contains(why({.max_requests_in_flight = -1}), "--max-requests-inflight"));
  CHECK(Contains(why({.max_mutating_requests_in_flight = -1}), "--max-mutating-requests-inflight"));
  CHECK(Contains(why({.max_requests_in_flight = 0, .max_mutating_requests_in_flight = 0}),
                 "add up to something positive"));
  CHECK_FALSE(
      Contains(why({.max_requests_in_flight = 0, .max_mutating_requests_in_flight = 0}), "kNone"));
  CHECK(
      why({.mode = Mode::kNone, .max_requests_in_flight = 0, .max_mutating_requests_in_flight = 0})
          .empty());
}

}  // namespace apiserver::inline v0::testing
