#include <array>
#include <atomic>
#include <functional>

#include "apiserver/base/progress.h"
#include "apiserver/testing/storage/fault_engine.h"
#include "storage/backends.h"
#include "storage/forwarding_engine.h"

// How a cache gets its state, loses it and gets it back.
using namespace apiserver;  // NOLINT: a test.
using storage::ListOptions;
using testing::NamesOf;

namespace {

// Calls a function for each report.
class Told final : public ProgressSink {
 public:
  explicit Told(std::function<void(const Progress&)> tell) : tell_(std::move(tell)) {}
  void Report(const Progress& progress) override { tell_(progress); }

 private:
  const std::function<void(const Progress&)> tell_;
};

// A clock that goes on by a tenth of a second whenever it is looked at.
class HastyClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(std::chrono::milliseconds(100) * ++looks_); }
  Wall WallNow() const override { return RealClock().WallNow(); }

 private:
  mutable std::atomic<int> looks_ = 0;
};

// A cacher over an engine that is followed and fails when it is told to.
struct Followed {
  Followed()
      : remote(testing::storage::NewRemoteEngine(*engine)),
        faults(testing::storage::NewFaultEngine(*remote)) {}
  ~Followed() {
    if (cacher) cacher->Stop();
    pool->Stop();
    cacher.reset();
    engine->Stop();
  }
  void Open() {
    storage::cacher::Options options;
    options.store.engine = faults.get();
    options.store.kind = kind;
    options.store.prefix = "/p";
    options.executor = pool.get();
    options.fresh_wait = fresh_wait;
    options.store.clock = clock;
    options.progress = std::make_shared<Told>([this](const Progress& progress) {
      told.Lock()->push_back(progress.finished && progress.failure.ok() ? "ready"
                                                                        : progress.ToString());
      told.NotifyAll();
    });
    cacher = storage::cacher::New(options);
  }
  bool Heard(std::string_view text) {
    auto locked = told.Lock();
    return locked.WaitUntil(RealClock().Now() + std::chrono::seconds(60), [&] {
      return std::find(locked->begin(), locked->end(), text) != locked->end();
    });
  }
  void Create(std::string_view name) {
    const auto store = storage::store::New({.engine = engine.get(), .kind = kind, .prefix = "/p"});
    const auto object = testing::NewWidget(kind, name, "ns");
    REQUIRE(store->Create(ctx, "/ns/" + std::string(name), *object, {}).ok());
  }

  Context ctx = Context::Background();
  const Clock* clock = &RealClock();
  runtime::KindPtr kind = testing::NewWidgetKind();
  std::chrono::milliseconds fresh_wait = std::chrono::seconds(10);
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"cacher", 2});
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<storage::kv::Engine> remote;
  std::unique_ptr<testing::storage::FaultEngine> faults;
  Guarded<std::vector<std::string>> told;
  std::unique_ptr<storage::Interface> cacher;
};

const Status kDown(Reason::kServiceUnavailable, "the engine is down");

// An engine whose log has been compacted by the time that it is followed for the first time.
class Overtaken final : public testing::ForwardingEngine {
 public:
  Overtaken(storage::kv::Engine& inner, std::function<void()> overtake)
      : ForwardingEngine(inner), overtake_(std::move(overtake)) {}
  Result<std::unique_ptr<storage::kv::Tail>> NewTail(std::string_view prefix,
                                                     storage::kv::Revision from) override {
    if (overtake_) std::exchange(overtake_, nullptr)();
    return ForwardingEngine::NewTail(prefix, from);
  }

 private:
  std::function<void()> overtake_;
};

// Runs tasks at once, on the thread that posts them.
class AtOnce final : public Executor {
 public:
  void Post(Task task) override { task(); }
  Cancel PostAfter(std::chrono::nanoseconds, Task) override {
    return [] {};
  }
  bool may_block() const override { return true; }
  bool Inside() const override { return true; }
};

}  // namespace

TEST_CASE("storage.cacher: a log that is compacted while the state is read is begun anew",
          "[storage.cacher]") {
  const Context ctx = Context::Background();
  const auto kind = testing::NewWidgetKind();
  const auto engine = storage::memory::NewEngine();
  const auto remote = testing::storage::NewRemoteEngine(*engine);
  const auto store = storage::store::New({.engine = engine.get(), .kind = kind, .prefix = "/p"});
  const auto create = [&](std::string_view name) {
    const auto object = testing::NewWidget(kind, name, "ns");
    REQUIRE(store->Create(ctx, "/ns/" + std::string(name), *object, {}).ok());
  };
  create("one");
  Overtaken overtaken(*remote, [&] {
    create("two");
    create("three");
    REQUIRE(engine->Compact(ctx, 4).ok());
  });
  AtOnce executor;
  storage::cacher::Options options;
  options.store = {.engine = &overtaken, .kind = kind, .prefix = "/p"};
  options.executor = &executor;

  const auto cacher = storage::cacher::New(options);

  CHECK(cacher->Ready().ok());
  ListOptions any;
  any.resource_version = "0";
  CHECK(NamesOf(cacher->GetList(ctx, "/", any)) == "one three two");
  cacher->Stop();
  engine->Stop();
}

TEST_CASE("storage.cacher: an engine that is down at first is tried until it is up",
          "[storage.cacher]") {
  Followed followed;
  followed.Create("one");
  followed.faults->FailRanges(1, kDown);
  followed.Open();
  REQUIRE(followed.Heard("warm-up of /p/: the engine is down"));
  CHECK(followed.cacher->Ready().message() == "warm-up of /p/: the engine is down");
  REQUIRE(followed.Heard("ready"));
  CHECK(followed.cacher->Ready().ok());
  CHECK(NamesOf(followed.cacher->GetList(followed.ctx, "/", {})) == "one");
}

TEST_CASE("storage.cacher: while there is no state, pages and objects come from the engine",
          "[storage.cacher]") {
  Followed followed;
  followed.Create("one");
  followed.faults->FailRanges(1'000, kDown);
  followed.fresh_wait = std::chrono::milliseconds(200);
  followed.Open();
  REQUIRE(followed.Heard("warm-up of /p/: the engine is down"));
  const Status list = followed.cacher->GetList(followed.ctx, "/", {}).status();
  CHECK(list.reason() == Reason::kTooManyRequests);
  CHECK(list.message() == "storage is (re)initializing: the engine is down");
  CHECK(list.details()->retry_after_seconds == 1);
  const Status watch = followed.cacher->Watch(followed.ctx, "/", {}).status();
  CHECK(watch.reason() == Reason::kTooManyRequests);
  // They are asked of the engine, which is down.
  ListOptions page;
  page.limit = 1;
  CHECK(followed.cacher->GetList(followed.ctx, "/", page).status() == kDown);
  CHECK(followed.cacher->Get(followed.ctx, "/ns/one", {}).status() == kDown);
}

TEST_CASE("storage.cacher: a large state is read in pages, and each is told", "[storage.cacher]") {
  HastyClock clock;
  Followed followed;
  followed.clock = &clock;
  for (int i = 0; i < 10'001; ++i) followed.Create("o" + std::to_string(i));
  followed.Open();
  CHECK(followed.Heard("warm-up of /p/: 10000 of 10001 objects, 1s to go"));
  CHECK(followed.Heard("ready"));
  CHECK(followed.cacher->GetList(followed.ctx, "/", {})->items.size() == 10'001);
}

TEST_CASE("storage.cacher: a log that was compacted away is begun anew", "[storage.cacher]") {
  Notification go;
  std::array<Notification, 2> held;
  Followed followed;
  followed.pool = NewThreadPool({.name = "cacher", .threads = 2, .threads_extra_max = 0});
  followed.Create("one");
  followed.Open();
  REQUIRE(followed.Heard("ready"));
  ListOptions options;
  options.resource_version = "2";
  auto stream = *followed.cacher->Watch(followed.ctx, "/", options);
  followed.told.Lock()->clear();
  // The pool's threads are held up while history goes by. Once both stand still, the load is over.
  for (Notification& one : held) {
    followed.pool->Post([&one, &go] {
      one.Notify();
      go.Wait();
    });
  }
  for (const Notification& one : held) one.Wait();
  followed.Create("two");
  followed.Create("three");
  REQUIRE(followed.engine->Compact(followed.ctx, 4).ok());
  go.Notify();
  REQUIRE(followed.Heard("ready"));
  // Who watched must look again.
  std::vector<watch::Event> events;
  CHECK(stream->Next(events, 10, Waker()) == watch::Stream::State::kEnd);
  CHECK(NamesOf(followed.cacher->GetList(followed.ctx, "/", {})) == "one three two");
}
