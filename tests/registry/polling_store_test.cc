#include "apiserver/registry/polling_store.h"

#include <deque>

#include "apiserver/testing/server/fake_clock.h"
#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.

namespace {

// FakeClock's beginning in microseconds.
constexpr std::int64_t kStart = 1'600'000'000'000'000;

struct Sensor {
  std::string name;
  int size = 0;
  std::string space = "ns";
  std::string uid = "";
};

// A store whose polls return what the test has put in `now`.
struct Polled {
  explicit Polled(std::function<void(registry::PollingOptions&)> bend = nullptr) {
    registry::PollingOptions options;
    options.poll = [this](const Context&) { return Make(); };
    options.kind = kind;
    options.interval = std::chrono::milliseconds(0);
    options.executor = pool.get();
    options.clock = &clock;
    if (bend) bend(options);
    store = registry::NewPollingStore(std::move(options)).value();
    ctx.Set(rest::Namespace{"ns"});
  }
  ~Polled() {
    store->Destroy();
    store.reset();
    pool->Stop();
  }

  Result<registry::PollingOptions::Objects> Make() {
    auto locked = now.Lock();
    ++polls;
    if (!failure.ok()) return failure;
    registry::PollingOptions::Objects objects;
    for (const Sensor& sensor : *locked) {
      auto object = std::make_unique<runtime::Object>(kind, "v1");
      object->Edit("metadata", "name") = sensor.name;
      if (!sensor.space.empty()) object->Edit("metadata", "namespace") = sensor.space;
      if (!sensor.uid.empty()) object->Edit("metadata", "uid") = sensor.uid;
      object->Edit("metadata", "resourceVersion") = "7";
      object->Edit("spec", "size") = sensor.size;
      object->Edit("spec", "color") = sensor.size > 5 ? "red" : "blue";
      objects.push_back(std::move(object));
    }
    return objects;
  }
  Status Poll(std::vector<Sensor> sensors) {
    *now.Lock() = std::move(sensors);
    return store->Poll(ctx);
  }
  // "1:a 2:b", relative to kStart; the list's own revision first.
  std::string List(meta::ListOptions options = {}) {
    const auto list = store->List(ctx, options);
    if (!list.ok()) return list.status().ToString();
    std::string text = "@" + Relative(list->resource_version);
    for (const auto& item : list->items) {
      text +=
          " " + Relative(std::string(item->resource_version())) + ":" + std::string(item->name());
    }
    return text;
  }
  static std::string Relative(const std::string& version) {
    return std::to_string(std::stoll(version) - kStart);
  }
  static std::string Version(std::int64_t relative) { return std::to_string(kStart + relative); }

  testing::FakeClock clock;
  std::unique_ptr<ThreadPool> pool = NewThreadPool({.name = "polled", .threads = 2});
  runtime::KindPtr kind = testing::NewWidgetKind();
  Guarded<std::vector<Sensor>> now;
  Status failure;
  std::atomic<int> polls{0};
  Context ctx = Context::Child(Context::Background());
  std::shared_ptr<registry::PollingStore> store;
};

// The events of a watch, as "ADDED a@1"; waits ten seconds at most for each.
class Events final : public Wakeable, public std::enable_shared_from_this<Events> {
 public:
  Events(Polled& polled, std::unique_ptr<watch::Stream> stream)
      : polled_(polled), stream_(std::move(stream)) {}

  static std::shared_ptr<Events> Watch(Polled& polled, meta::ListOptions options) {
    options.watch = true;
    auto stream =
        polled.store->Watch(polled.ctx, options, RealClock().Now() + std::chrono::minutes(5));
    REQUIRE(stream.ok());
    return std::make_shared<Events>(polled, std::move(*stream));
  }
  static std::shared_ptr<Events> From(Polled& polled, const std::string& version) {
    meta::ListOptions options;
    options.resource_version = version;
    return Watch(polled, options);
  }

  void OnWake() override {
    *woken_.Lock() = true;
    woken_.NotifyAll();
  }
  std::string Next() {
    while (pending_.empty()) {
      std::vector<watch::Event> events;
      *woken_.Lock() = false;
      const auto state = stream_->Next(events, 10, Waker(*polled_.pool, weak_from_this()));
      for (watch::Event& event : events) pending_.push_back(std::move(event));
      if (!pending_.empty()) break;
      if (state == watch::Stream::State::kEnd) return "END";
      if (state == watch::Stream::State::kMore) continue;
      auto woken = woken_.Lock();
      if (!woken.WaitUntil(RealClock().Now() + std::chrono::seconds(60), [&] { return *woken; })) {
        return "NOTHING";
      }
    }
    const watch::Event event = std::move(pending_.front());
    pending_.pop_front();
    std::string text(watch::EventTypeWord(event.type));
    if (event.type == watch::EventType::kError)
      return text + " " + std::to_string(event.error.code());
    if (event.object) text += " " + std::string(event.object->name());
    const std::string version = event.resource_version.empty()
                                    ? std::string(event.object->resource_version())
                                    : event.resource_version;
    text += "@" + Polled::Relative(version);
    return event.initial_events_end ? text + " initial" : text;
  }

 private:
  Polled& polled_;
  std::unique_ptr<watch::Stream> stream_;
  std::deque<watch::Event> pending_;
  Guarded<bool> woken_{false};
};

}  // namespace

TEST_CASE("registry: what a poll finds is listed, with revisions that begin at the clock",
          "[registry]") {
  Polled polled;
  REQUIRE(polled.Poll({{"a", 1}, {"b", 2}}).ok());

  CHECK(polled.List() == "@2 1:a 2:b");
  const auto a = polled.store->Get(polled.ctx, "a", {});
  REQUIRE(a.ok());
  CHECK((*a)->uid().size() == 36);
  CHECK((*a)->metadata()["creationTimestamp"].AsString() == "2020-09-13T12:26:40Z");
  CHECK(polled.store->Get(polled.ctx, "c", {}).status().code() == 404);
}

TEST_CASE("registry: an object that is polled unchanged keeps its resourceVersion", "[registry]") {
  Polled polled;
  REQUIRE(polled.Poll({{"a", 1}, {"b", 2}}).ok());
  const auto before = polled.store->Get(polled.ctx, "a", {}).value();
  polled.clock.Advance(std::chrono::hours(1));

  REQUIRE(polled.Poll({{"a", 1}, {"b", 3}}).ok());

  CHECK(polled.List() == "@3 1:a 3:b");
  const auto after = polled.store->Get(polled.ctx, "b", {}).value();
  CHECK(after->metadata()["creationTimestamp"].AsString() ==
        before->metadata()["creationTimestamp"].AsString());
}

TEST_CASE("registry: watches see the difference between polls", "[registry]") {
  Polled polled;
  REQUIRE(polled.Poll({{"a", 1}, {"b", 2}}).ok());
  const auto events = Events::From(polled, Polled::Version(2));

  REQUIRE(polled.Poll({{"a", 4}, {"c", 1}}).ok());
  REQUIRE(polled.Poll({{"a", 4}, {"c", 1}}).ok());
  REQUIRE(polled.Poll({{"b", 2}, {"c", 1}}).ok());

  CHECK(events->Next() == "DELETED b@3");
  CHECK(events->Next() == "MODIFIED a@4");
  CHECK(events->Next() == "ADDED c@5");
  CHECK(events->Next() == "DELETED a@6");
  CHECK(events->Next() == "ADDED b@7");
}

TEST_CASE("registry: the same name with another uid is another object", "[registry]") {
  Polled polled;
  REQUIRE(polled.Poll({{.name = "a", .uid = "1"}}).ok());
  const auto events = Events::From(polled, Polled::Version(1));

  REQUIRE(polled.Poll({{.name = "a", .uid = "1"}}).ok());
  REQUIRE(polled.Poll({{.name = "a", .uid = "2"}}).ok());

  CHECK(events->Next() == "DELETED a@2");
  CHECK(events->Next() == "ADDED a@3");
}

TEST_CASE("registry: a watch of a polled store begins as it is asked to", "[registry]") {
  Polled polled;
  REQUIRE(polled.Poll({{"a", 1}}).ok());

  const auto any = Events::From(polled, "0");
  CHECK(any->Next() == "ADDED a@1");

  meta::ListOptions options;
  options.send_initial_events = true;
  options.resource_version_match = meta::ResourceVersionMatch::kNotOlderThan;
  options.allow_watch_bookmarks = true;
  const auto initial = Events::Watch(polled, options);
  CHECK(initial->Next() == "ADDED a@1");
  CHECK(initial->Next() == "BOOKMARK@1 initial");
}

TEST_CASE("registry: a selector lets polled objects in and out", "[registry]") {
  Polled polled;
  REQUIRE(polled.Poll({{"a", 1}}).ok());
  meta::ListOptions options;
  options.field_selector = *meta::FieldSelector::Parse("spec.color=red");
  options.resource_version = Polled::Version(1);
  const auto events = Events::Watch(polled, options);

  for (const int size : {6, 7, 1}) REQUIRE(polled.Poll({{"a", size}}).ok());

  CHECK(events->Next() == "ADDED a@2");
  CHECK(events->Next() == "MODIFIED a@3");
  CHECK(events->Next() == "DELETED a@4");
}

TEST_CASE("registry: pages and exact versions of a polled store are of one state", "[registry]") {
  Polled polled;
  REQUIRE(polled.Poll({{"a", 1}, {"b", 1}, {"c", 1}}).ok());
  meta::ListOptions options;
  options.limit = 2;
  const auto first = polled.store->List(polled.ctx, options).value();
  REQUIRE(polled.Poll({{"a", 1}}).ok());

  options.continue_token = first.continue_token;
  CHECK(polled.List(options) == "@3 3:c");
  meta::ListOptions exact;
  exact.resource_version = Polled::Version(2);
  exact.resource_version_match = meta::ResourceVersionMatch::kExact;
  CHECK(polled.List(exact) == "@2 1:a 2:b");
}

TEST_CASE("registry: what a process before gave out is too old", "[registry]") {
  Polled polled;
  REQUIRE(polled.Poll({{"a", 1}}).ok());

  const auto events = Events::From(polled, Polled::Version(-5000));
  CHECK(events->Next() == "ERROR 410");
  meta::ListOptions exact;
  exact.resource_version = Polled::Version(-5000);
  exact.resource_version_match = meta::ResourceVersionMatch::kExact;
  CHECK(polled.store->List(polled.ctx, exact).status().code() == 410);
}

TEST_CASE("registry: history that has gone is 410", "[registry]") {
  Polled polled([](auto& options) { options.history_events_max = 10; });
  for (int i = 0; i < 50; ++i) REQUIRE(polled.Poll({{"a", i}}).ok());

  meta::ListOptions exact;
  exact.resource_version = Polled::Version(2);
  exact.resource_version_match = meta::ResourceVersionMatch::kExact;
  CHECK(polled.store->List(polled.ctx, exact).status().code() == 410);
}

TEST_CASE("registry: before the first poll nothing is served, afterwards an error changes nothing",
          "[registry]") {
  Polled polled;
  polled.failure = Status(Reason::kServiceUnavailable, "the bus is silent");

  CHECK(polled.Poll({{"a", 1}}).message() == "the bus is silent");
  CHECK(polled.store->List(polled.ctx, {}).status().code() == 429);
  CHECK(polled.store->Get(polled.ctx, "a", {}).status().code() == 429);
  CHECK(polled.store->ReadinessCheck().message() ==
        "widgets have not been polled yet: the bus is silent");

  polled.failure = {};
  REQUIRE(polled.Poll({{"a", 1}}).ok());
  CHECK(polled.store->ReadinessCheck().ok());
  polled.failure = Status(Reason::kServiceUnavailable, "the bus is silent");
  CHECK_FALSE(polled.Poll({}).ok());
  CHECK(polled.store->ReadinessCheck().ok());
  CHECK(polled.List() == "@1 1:a");
}

TEST_CASE("registry: a poll with one bad object changes nothing", "[registry]") {
  Polled polled;
  REQUIRE(polled.Poll({{"a", 1}}).ok());
  struct Case {
    Sensor bad;
    const char* message;
  };
  const Case each =
      GENERATE(Case{{.name = ""}, R"(polled object "" has no name)"},
               Case{{.name = "x/y"}, R"(polled object "x/y" has a name no path can have)"},
               Case{{.name = "x", .space = ""}, R"(polled object "x" has no good namespace)"},
               Case{{.name = "a", .size = 9}, R"(polled two objects at "/ns/a")"});

  CHECK(polled.Poll({{"a", 5}, each.bad}).message() == each.message);
  CHECK(polled.List() == "@1 1:a");
}

TEST_CASE("registry: a poll that throws is an error", "[registry]") {
  Polled polled([](auto& options) {
    options.poll = [](const Context&) -> Result<registry::PollingOptions::Objects> {
      throw std::runtime_error("a host's mistake");
    };
  });
  CHECK(polled.store->Poll(polled.ctx).message() == "a host's mistake");
}

TEST_CASE("registry: a store polls by itself, until it is destroyed", "[registry]") {
  Polled polled([](auto& options) { options.interval = std::chrono::milliseconds(1); });
  const auto deadline = RealClock().Now() + std::chrono::seconds(60);
  while (polled.polls < 3 && RealClock().Now() < deadline) std::this_thread::yield();
  CHECK(polled.polls >= 3);

  polled.store->Destroy();

  CHECK(polled.store->Poll(polled.ctx).message() == "the store has stopped");
  (void)polled.store->ReadinessCheck();
}

TEST_CASE("registry: a polling store wants a poll, a kind and an executor", "[registry]") {
  const auto pool = NewThreadPool({.name = "polled", .threads = 1});
  registry::PollingOptions options;
  CHECK(registry::NewPollingStore(options).status().message() ==
        "registry polling store: poll is required");
  options.poll = [](const Context&) -> Result<registry::PollingOptions::Objects> {
    return registry::PollingOptions::Objects();
  };
  CHECK(registry::NewPollingStore(options).status().message() ==
        "registry polling store: kind is required");
  options.kind = testing::NewWidgetKind();
  CHECK(registry::NewPollingStore(options).status().message() ==
        "registry polling store: executor is required");
}
