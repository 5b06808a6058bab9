// The turns of a watch: how many events it asks its stream for, and how they are counted.
#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/metrics.h"
#include "apiserver/meta/watch.h"
#include "apiserver/response/response.h"
#include "filter_fixture.h"
#include "response/watch_counters.h"
#include "widget_server.h"

namespace http = apiserver::http;
namespace metrics = apiserver::metrics;
namespace response = apiserver::response;
namespace runtime = apiserver::runtime;
namespace watch = apiserver::watch;

namespace {

constexpr std::size_t kEvents = 200;

// Gives as many events of one object as it is asked for, and notes how many those were.
class NotingStream final : public watch::Stream {
 public:
  NotingStream(runtime::ObjectPtr object, std::shared_ptr<std::vector<std::size_t>> asked)
      : object_(std::move(object)), asked_(std::move(asked)) {}

  State Next(std::vector<watch::Event>& events, std::size_t events_max,
             const apiserver::Waker&) override {
    asked_->push_back(events_max);
    for (std::size_t i = 0; i < events_max && left_ > 0; ++i, --left_) {
      events.push_back(
          {.type = watch::EventType::kModified, .object = object_, .resource_version = "7"});
    }
    return left_ > 0 ? State::kMore : State::kEnd;
  }

 private:
  const runtime::ObjectPtr object_;
  const std::shared_ptr<std::vector<std::size_t>> asked_;
  std::size_t left_ = kEvents;
};

// A server whose only answer is a watch of 200 events of objects of `bytes`.
struct Watched {
  explicit Watched(std::size_t bytes) {
    const response::Target target{.kind = apiserver::testing::WidgetKind(), .version = "v1"};
    auto widget = std::make_shared<runtime::Object>(target.kind, target.version);
    widget->Edit("metadata", "annotations", "note") = std::string(bytes, 'x');
    server.handler = [this, target, widget](http::Exchange& exchange) {
      exchange.Set(response::WatchCounters{.events = &events, .sizes = &sizes});
      return response::WriteWatch(exchange, std::make_unique<NotingStream>(widget, asked), target,
                                  {.timeout = std::chrono::minutes(10)});
    };
  }

  const std::shared_ptr<std::vector<std::size_t>> asked =
      std::make_shared<std::vector<std::size_t>>();
  metrics::Counter events;
  metrics::Histogram sizes{{1024, 16384}};
  apiserver::testing::FilterFixture server{{}};
};

}  // namespace

TEST_CASE("server: a watch asks for as many events as there is room for", "[server]") {
  Watched watched(4000);

  const std::string body = watched.server.Call("GET", "/").body;

  REQUIRE(watched.asked->size() > 2);
  constexpr std::size_t kRoomMax = 64 << 10;
  // The size of the first ones is not known.
  CHECK(std::all_of(watched.asked->begin() + 1, watched.asked->end(),
                    [](std::size_t events) { return events >= 1 && events <= kRoomMax / 4000; }));
  CHECK(std::count(body.begin(), body.end(), '\n') == kEvents);
}

TEST_CASE("server: a watch of events that are longer than any room asks for one at a time",
          "[server]") {
  Watched watched(100'000);

  const std::string body = watched.server.Call("GET", "/").body;

  CHECK(std::all_of(watched.asked->begin() + 1, watched.asked->end(),
                    [](std::size_t events) { return events == 1; }));
  CHECK(std::count(body.begin(), body.end(), '\n') == kEvents);
}

TEST_CASE("server: events that are sent at once are all counted, with their sizes", "[server]") {
  Watched watched(2000);

  const std::string body = watched.server.Call("GET", "/").body;

  CHECK(watched.events.value() == kEvents);
  CHECK(watched.sizes.count(0) == 0);
  CHECK(watched.sizes.count(1) == kEvents);
  CHECK(watched.sizes.sum() == static_cast<double>(body.size()));
}

TEST_CASE("server: a tally tells events of several sizes apart", "[server]") {
  metrics::Counter events;
  metrics::Histogram sizes({10, 20});
  const response::WatchCounters counters{.events = &events, .sizes = &sizes};
  {
    response::EventTally tally(counters);
    for (const std::size_t bytes : {5, 6, 15, 5, 20, 21, 40}) tally.Count(bytes);
    CHECK(tally.events() == 7);
    CHECK(tally.bytes() == 112);
    CHECK(events.value() == 0);
  }
  CHECK(events.value() == 7);
  CHECK(sizes.count(0) == 3);
  CHECK(sizes.count(1) == 2);
  CHECK(sizes.count(2) == 2);
  CHECK(sizes.sum() == 112);
}

TEST_CASE("server: a tally without counters counts for its watch alone", "[server]") {
  const response::WatchCounters none;
  response::EventTally tally(none);
  tally.Count(5);

  CHECK(tally.events() == 1);
  CHECK(tally.bytes() == 5);
}
