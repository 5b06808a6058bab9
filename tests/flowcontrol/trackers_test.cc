#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "flowcontrol/dropped_requests_tracker.h"
#include "flowcontrol/integrator.h"
#include "flowcontrol/seat_seconds.h"
#include "flowcontrol/simulation.h"
#include "flowcontrol/tournament.h"
#include "flowcontrol/watch_tracker.h"

namespace apiserver::inline v0::flowcontrol {

namespace {

using testing::Simulation;
using namespace std::chrono_literals;

// dropped_requests_tracker_test.go begins at the present.
constexpr std::chrono::seconds kStart(1'600'000'000);

// A request, with what its RequestInfo shows parts of.
struct Asked {
  Asked(const char* method, std::string asked_path, const char* asked_query)
      : path(std::move(asked_path)),
        query(http::Query::Parse(asked_query)),
        info(*request::ResolveRequestInfo(method, path, query)) {}
  std::string path;
  http::Query query;
  request::RequestInfo info;
};

}  // namespace

// dropped_requests_tracker_test.go: TestDroppedRequestsTracker.
TEST_CASE("flowcontrol: Retry-After follows how much was refused lately", "[flowcontrol]") {
  Simulation clock;
  DroppedRequestsTracker tracker(clock);
  struct Step {
    int at;
    int dropped;
    int retry_after;
  };
  for (const Step& step :
       {Step{0, 5, 1}, Step{1, 11, 2}, Step{2, 1, 2}, Step{3, 11, 4}, Step{4, 1, 4}, Step{7, 1, 8},
        Step{11, 1, 8}, Step{15, 1, 7}, Step{17, 1, 6}, Step{21, 14, 5}, Step{22, 1, 10}}) {
    CAPTURE(step.at);
    clock.RunUntil(kStart + std::chrono::seconds(step.at));
    int told = 0;
    for (int i = 0; i < step.dropped; ++i) told = tracker.RecordDroppedRequest("pl");
    CHECK(told == step.retry_after);
    CHECK(tracker.RetryAfter("pl") == step.retry_after);
  }
}

// TestDroppedRequestsTrackerPLIndependent.
TEST_CASE("flowcontrol: each level has a Retry-After of its own", "[flowcontrol]") {
  Simulation clock;
  DroppedRequestsTracker tracker(clock);
  const auto level = [](int i) { return "pl-" + std::to_string(i); };
  clock.RunUntil(kStart);
  for (int i = 0; i < 10; ++i) tracker.RecordDroppedRequest(level(i));
  clock.RunUntil(kStart + 1s);
  for (int i = 0; i < 10; ++i) CHECK(tracker.RecordDroppedRequest(level(i)) == 1);
  for (int i = 0; i < 5; ++i) tracker.RecordDroppedRequest("pl-0");
  clock.RunUntil(kStart + 2s);
  for (int i = 0; i < 10; ++i) {
    CHECK(tracker.RecordDroppedRequest(level(i)) == (i == 0 ? 2 : 1));
  }
  CHECK(tracker.RetryAfter("other-pl") == 1);
}

// integrator_test.go: TestIntegrator.
TEST_CASE("flowcontrol: an integrator knows average, deviation and bounds", "[flowcontrol]") {
  Clock::Monotonic now(kStart);
  Integrator integrator(now);
  integrator.Add(now, 3);
  now += 1s;
  IntegratorResults results = integrator.Reset(now);
  CHECK(results.duration == 1);
  CHECK(results.average == 3);
  CHECK(results.deviation == 0);
  CHECK(results.min == 0);
  CHECK(results.max == 3);
  integrator.Set(now, 2);
  results = integrator.Results(now);
  CHECK(results.duration == 0);
  CHECK(std::isnan(results.average));
  CHECK(std::isnan(results.deviation));
  CHECK(results.min == 2);
  CHECK(results.max == 3);
  now += 1ms;
  integrator.Add(now, -1);
  now += 1ms;
  results = integrator.Results(now);
  CHECK(results.duration == Approx(0.002));
  CHECK(results.average == Approx(1.5));
  CHECK(results.deviation == Approx(0.5));
  CHECK(results.min == 1);
  CHECK(results.max == 3);
}

// seat_seconds_test.go: TestSeatSecondsString, TestSeatSecondsPerSeat.
TEST_CASE("flowcontrol: seat-seconds are counted in hundred-millionths", "[flowcontrol]") {
  CHECK(FormatSeatSeconds(1) == "0.00000001ss");
  CHECK(FormatSeatSeconds(99'999'999) == "0.99999999ss");
  CHECK(FormatSeatSeconds(0) == "0.00000000ss");
  CHECK(FormatSeatSeconds(SeatsTimesDuration(1, 1s)) == "1.00000000ss");
  CHECK(FormatSeatSeconds(SeatsTimesDuration(123, 100ms)) == "12.30000000ss");
  CHECK(FormatSeatSeconds(SeatsTimesDuration(1203, 10ms)) == "12.03000000ss");
  CHECK(SeatSecondsToDouble(SeatsTimesDuration(123, 100ms)) == Approx(12.3));
  CHECK(DurationPerSeat(SeatsTimesDuration(10, 1s), 1) == 10s);
  CHECK(DurationPerSeat(SeatsTimesDuration(1, 1s), 10) == 100ms);
  CHECK(DurationPerSeat(SeatsTimesDuration(13, 5ms), 5) == 13ms);
  CHECK(DurationPerSeat(SeatsTimesDuration(12, 0s), 10) == 0s);
}

TEST_CASE("flowcontrol: a tournament goes around among the smallest", "[flowcontrol]") {
  Tournament tournament;
  tournament.Resize(5);
  CHECK(tournament.min() == Tournament::kNone);
  for (const std::size_t i : {1U, 3U, 4U}) tournament.Set(i, 7);
  CHECK(tournament.min() == 7);
  CHECK(tournament.FirstMin(0) == 1);
  CHECK(tournament.FirstMin(1) == 1);
  CHECK(tournament.FirstMin(2) == 3);
  CHECK(tournament.FirstMin(4) == 4);
  CHECK(tournament.FirstMin(5) == 1);
  tournament.Set(2, 6);
  CHECK(tournament.FirstMin(3) == 2);
  tournament.Set(2, Tournament::kNone);
  tournament.Set(4, 8);
  CHECK(tournament.FirstMin(4) == 1);
}

// watch_tracker_test.go: TestRegisterWatch.
TEST_CASE("flowcontrol: a watch is counted under what it watches", "[flowcontrol]") {
  struct Case {
    const char* path;
    const char* query;
    bool counted;
    const char* group;
    const char* resource;
    const char* namespace_;
    const char* name;
  };
  const char* const one = "watch=true&fieldSelector=metadata.name=mypod";
  for (const Case& each :
       {Case{"/api/v1/pods", "watch=true", true, "", "pods", "", ""},
        Case{"/api/v1/pods", "", false, "", "", "", ""},
        Case{"/api/v1/namespaces/foo/pods", "watch=true", true, "", "pods", "foo", ""},
        Case{"/api/v1/namespaces/foo/pods", one, true, "", "pods", "foo", "mypod"},
        Case{"/api/v1/namespaces", "watch=true&fieldSelector=metadata.name=myns", true, "",
             "namespaces", "", "myns"},
        Case{"/apis/group/v1/pods", "watch=true", true, "group", "pods", "", ""},
        Case{"/apis/group/v1/namespaces/foo/pods", "watch=true", true, "group", "pods", "foo", ""},
        Case{"/apis/group/v1/namespaces/foo/pods", one, true, "group", "pods", "foo", "mypod"},
        Case{"/apis/group/v1/namespaces/foo/pods", "watch=true&fieldSelector=spec.nodeName=", true,
             "group", "pods", "foo", ""}}) {
    CAPTURE(each.path, each.query);
    const Asked asked("GET", each.path, each.query);
    WatchTracker tracker;
    const WatchTracker::Subject* const subject = tracker.RegisterWatch(asked.info, asked.query);
    REQUIRE((subject != nullptr) == each.counted);
    CHECK(tracker.size() == (each.counted ? 1 : 0));
    if (subject != nullptr) {
      CHECK(subject->group == each.group);
      CHECK(subject->resource == each.resource);
      CHECK(subject->namespace_ == each.namespace_);
      CHECK(subject->name == each.name);
      // Another of the same is counted there too, and forgotten alone.
      CHECK(tracker.RegisterWatch(asked.info, asked.query) == subject);
      tracker.ForgetWatch(subject);
      CHECK(tracker.size() == 1);
    }
    tracker.ForgetWatch(subject);
    CHECK(tracker.size() == 0);
  }
}

namespace {

struct Write {
  const char* method;
  const char* path;
  const char* query;
  int watches;
};

void CheckInterested(const std::vector<std::pair<const char*, const char*>>& watches,
                     const std::vector<Write>& writes) {
  WatchTracker tracker;
  for (const auto& [path, query] : watches) {
    const Asked asked("GET", path, query);
    (void)tracker.RegisterWatch(asked.info, asked.query);
  }
  for (const Write& write : writes) {
    CAPTURE(write.method, write.path);
    CHECK(tracker.InterestedWatchCount(Asked(write.method, write.path, write.query).info) ==
          write.watches);
  }
}

}  // namespace

// TestGetInterestedWatchCount.
TEST_CASE("flowcontrol: a write tells the watches of its object, namespace and resource",
          "[flowcontrol]") {
  const char* const one = "watch=true&fieldSelector=metadata.name=mypod";
  CheckInterested({{"/api/v1/pods", "watch=true"},
                   {"/api/v1/namespaces/foo/pods", "watch=true"},
                   {"/api/v1/namespaces/foo/pods", one},
                   {"/api/v1/namespaces/bar/pods", one},
                   {"/apis/group/v1/namespaces/foo/pods", "watch=true"},
                   {"/apis/group/v1/namespaces/bar/pods", one}},
                  {{"POST", "/api/v1/namespaces/foo/pods", "", 2},
                   {"PUT", "/api/v1/namespaces/foo/pods/mypod", "", 3},
                   {"PATCH", "/api/v1/namespaces/foo/pods/mypod", "", 3},
                   {"DELETE", "/api/v1/namespaces/foo/pods/mypod", "", 3},
                   {"PUT", "/api/v1/namespaces/foo/pods/otherpod", "", 2},
                   {"GET", "/api/v1/namespaces/foo/pods/mypod", "", 0},
                   {"GET", "/api/v1/namespaces/foo/pods", "", 0},
                   {"GET", "/api/v1/namespaces/foo/pods", "watch=true", 0},
                   {"GET", "/api/v1/proxy/namespaces/foo/pods/mypod", "", 0},
                   {"POST", "/api/v1/namespaces/bar/pods", "", 1},
                   {"PUT", "/api/v1/namespaces/bar/pods/mypod", "", 2},
                   {"PUT", "/apis/group/v1/namespaces/foo/pods/mypod", "", 1},
                   {"PUT", "/apis/group/v1/namespaces/foo/pods/otherpod", "", 1},
                   {"PUT", "/apis/group/v1/namespaces/bar/pods/mypod", "", 1},
                   {"PUT", "/apis/group/v1/namespaces/bar/pods/otherpod", "", 0}});
}

// TestGetInterestedWatchCountWithIndex.
TEST_CASE("flowcontrol: watches that an index serves are not counted", "[flowcontrol]") {
  CheckInterested({{"/api/v1/pods", "watch=true"},
                   {"/api/v1/namespaces/foo/pods", "watch=true"},
                   {"/api/v1/namespaces/foo/pods", "watch=true&fieldSelector=metadata.name=mypod"},
                   {"/api/v1/namespaces/foo/pods", "watch=true&fieldSelector=spec.nodeName="},
                   {"/api/v1/namespaces/foo/pods", "watch=true&fieldSelector=spec.nodeName=node1"},
                   {"/api/v1/namespaces/foo/pods", "watch=true&fieldSelector=spec.nodeName=node2"}},
                  {{"POST", "/api/v1/namespaces/foo/pods", "", 3},
                   {"PUT", "/api/v1/namespaces/foo/pods/mypod", "", 4},
                   {"PATCH", "/api/v1/namespaces/foo/pods/mypod", "", 4},
                   {"DELETE", "/api/v1/namespaces/foo/pods/mypod", "", 4}});
}

}  // namespace apiserver::inline v0::flowcontrol
