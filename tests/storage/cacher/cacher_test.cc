#include "storage/backends.h"
#include "storage/manual_executor.h"

// What only the cacher does.
using namespace apiserver;  // NOLINT: a test.
using storage::ListOptions;
using testing::Backend;
using testing::Form;
using testing::ManualExecutor;
using testing::NamesOf;

namespace {

// Time that a test owns.
class FakeClock final : public Clock {
 public:
  Monotonic Now() const override { return Monotonic(std::chrono::seconds(now_.load())); }
  Wall WallNow() const override { return Wall(std::chrono::seconds(now_.load())); }
  void Advance(int seconds) { now_ += seconds; }

 private:
  std::atomic<int> now_{1000};
};

struct Bell final : Wakeable {
  void OnWake() override { ++rung; }
  int rung = 0;
};

struct TimedCacher {
  explicit TimedCacher(std::optional<int> deadline = std::nullopt) {
    storage::cacher::Options options;
    options.store.engine = engine.get();
    options.store.kind = kind;
    options.store.prefix = "/p";
    options.store.clock = &clock;
    options.executor = &executor;
    cacher = storage::cacher::New(options);
    ListOptions watch;
    watch.resource_version = "1";
    watch.allow_bookmarks = true;
    if (deadline) watch.deadline = clock.Now() + std::chrono::seconds(*deadline);
    stream = std::move(*cacher->Watch(ctx, "/", watch));
  }
  ~TimedCacher() {
    stream.reset();
    cacher->Stop();
  }
  std::vector<watch::Event> Read() {
    std::vector<watch::Event> events;
    while (stream->Next(events, 10, Waker(executor, bell)) == watch::Stream::State::kMore) {
    }
    return events;
  }

  Context ctx = Context::Background();
  FakeClock clock;
  ManualExecutor executor;
  std::shared_ptr<Bell> bell = std::make_shared<Bell>();
  runtime::KindPtr kind = testing::NewWidgetKind();
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<storage::Interface> cacher;
  std::unique_ptr<watch::Stream> stream;
};

}  // namespace

TEST_CASE("storage.cacher: everybody is given the same object", "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  auto watch = backend.WatchFrom("1");
  const auto created = backend.Create("one");
  CHECK(*backend.Get("one") == created);
  CHECK(backend.List()->items[0] == created);
  CHECK(watch.Next()->object == created);
  const auto updated = backend.Resize("one", 3);
  CHECK(*backend.Get("one") == *updated);
  CHECK(watch.Next()->object == *updated);
}

// Updates and returns whether the update began with an object that need not be parsed: one that is
// kept has no bytes. It must be the stored one.
static bool BeginsWithKept(Backend& backend, std::string_view name, int size) {
  bool kept = false;
  const auto stored = backend.Get(name);
  const auto updated = backend.storage->GuaranteedUpdate(
      backend.ctx, Backend::KeyOf(name), {},
      [&](const runtime::ObjectPtr& old) -> Result<storage::Update> {
        kept = old->stored_bytes() == nullptr;
        CHECK(old->root() == (*stored)->Clone()->root());
        CHECK(old->resource_version() == (*stored)->resource_version());
        storage::Update update;
        update.object = old->Clone();
        update.object->Edit("spec", "size") = size;
        return update;
      });
  REQUIRE(updated.ok());
  CHECK((*updated)->root()["spec"]["size"].AsInt() == size);
  return kept;
}

// Kept objects are at least so large.
static const std::string kLarge(5000, 'c');

TEST_CASE("storage.cacher: an update begins with what the one before has written",
          "[storage.cacher]") {
  const auto memory = std::make_shared<MemoryBudget>();
  {
    Backend backend(Form::kObservingCacher, 100'000, nullptr, testing::NewWidgetKind(), memory);
    backend.Create("one", "ns", kLarge);
    backend.Create("two", "ns", kLarge);
    CHECK_FALSE(BeginsWithKept(backend, "one", 2));
    const std::size_t one = memory->encodings.used();
    CHECK(one > 0);
    CHECK(BeginsWithKept(backend, "one", 3));
    CHECK(memory->encodings.used() == one);
    CHECK(BeginsWithKept(backend, "one", 3));
    CHECK_FALSE(BeginsWithKept(backend, "two", 2));
    CHECK(memory->encodings.used() == 2 * one);
    // Another object of that name is another object.
    REQUIRE(backend.Delete("one").ok());
    backend.Create("one", "ns", kLarge);
    CHECK_FALSE(BeginsWithKept(backend, "one", 4));
    // A small one is parsed.
    backend.Create("small");
    CHECK_FALSE(BeginsWithKept(backend, "small", 2));
    CHECK_FALSE(BeginsWithKept(backend, "small", 3));
    // There are 512 places.
    for (int i = 0; i < 512; ++i) {
      backend.Create("other-" + std::to_string(i), "ns", kLarge);
    }
    for (int i = 0; i < 512; ++i) {
      BeginsWithKept(backend, "other-" + std::to_string(i), 2);
    }
    CHECK_FALSE(BeginsWithKept(backend, "two", 3));
  }
  CHECK(memory->encodings.used() == 0);
}

TEST_CASE("storage.cacher: what updates have written is parsed again when memory is short",
          "[storage.cacher]") {
  const auto memory =
      std::make_shared<MemoryBudget>(MemoryBudget::Limits{.encodings_bytes_max = 1});
  Backend backend(Form::kObservingCacher, 100'000, nullptr, testing::NewWidgetKind(), memory);
  backend.Create("one", "ns", kLarge);
  CHECK_FALSE(BeginsWithKept(backend, "one", 2));
  CHECK_FALSE(BeginsWithKept(backend, "one", 3));
  CHECK(memory->encodings.used() == 0);
}

TEST_CASE("storage.cacher: many update at once what they keep", "[storage.cacher]") {
  const auto memory =
      std::make_shared<MemoryBudget>(MemoryBudget::Limits{.encodings_bytes_max = 50'000});
  Backend backend(Form::kObservingCacher, 100'000, nullptr, testing::NewWidgetKind(), memory);
  for (const char* name : {"a", "b", "c"}) backend.Create(name, "ns", kLarge);
  std::atomic<int> failed{0};
  const auto work = [&] {
    for (int i = 1; i <= 100; ++i) {
      for (const char* name : {"a", "b", "c"}) {
        if (!backend.Resize(name, i).ok()) ++failed;
      }
    }
  };
  Thread other("other", work);
  work();
  other.Join();
  CHECK(failed == 0);
  for (const char* name : {"a", "b", "c"}) {
    CHECK((*backend.Get(name))->root()["spec"]["size"].AsInt() == 100);
  }
}

TEST_CASE("storage.cacher: reads of an observed engine are answered on a loop",
          "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  backend.Create("one");
  CHECK(backend.storage->AnswersInline());
  const Context loop = backend.ctx.WithMayBlock(false);
  CHECK(backend.storage->Get(loop, "/ns/one", {}).ok());
  CHECK(NamesOf(backend.storage->GetList(loop, "/", {})) == "one");
  storage::GetOptions future;
  future.resource_version = "100";
  CHECK(backend.storage->Get(loop, "/ns/one", future).status().reason() == Reason::kWouldBlock);
}

TEST_CASE("storage.cacher: a followed engine is asked before a consistent read",
          "[storage.cacher]") {
  Backend backend(Form::kFollowingCacher);
  backend.Create("one");
  REQUIRE(backend.List().ok());  // The cache is ready.
  CHECK(backend.storage->Get(backend.ctx.WithMayBlock(false), "/ns/one", {}).status().reason() ==
        Reason::kWouldBlock);
  CHECK(backend.Get("one").ok());
  // Any state will do: nobody is asked.
  storage::GetOptions any;
  any.resource_version = "0";
  CHECK(backend.storage->Get(backend.ctx.WithMayBlock(false), "/ns/one", any).ok());
}

TEST_CASE("storage.cacher: a list of any revision is answered whole", "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  backend.Create("a");
  backend.Create("b");
  ListOptions options;
  options.resource_version = "0";
  options.limit = 1;
  CHECK(NamesOf(backend.List(options)) == "a b");
}

TEST_CASE("storage.cacher: pages go on from memory after the engine forgot nothing",
          "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  for (const char* name : {"a", "b", "c"}) backend.Create(name);
  ListOptions options;
  options.limit = 1;
  const auto first = backend.List(options);
  REQUIRE(backend.Delete("b").ok());
  options.continue_token = first->continue_token;
  // On a loop the engine could be asked as well here; what counts is the same object.
  const auto second = backend.storage->GetList(backend.ctx.WithMayBlock(false), "/", options);
  CHECK(NamesOf(second) == "b");
}

TEST_CASE("storage.cacher: a read waits for a write that is on its way", "[storage.cacher]") {
  Backend backend(Form::kFollowingCacher);
  Thread writer("writer", [&] { backend.Create("one"); });
  storage::GetOptions options;
  options.resource_version = "2";
  // 100 ms are given; the writer needs a few.
  for (int i = 0; i < 50; ++i) {
    if (backend.storage->Get(backend.ctx, "/ns/one", options).ok()) break;
  }
  writer.Join();
  CHECK(backend.Get("one", "2").ok());
}

TEST_CASE("storage.cacher: a watch older than the cache's log is fed by the engine's",
          "[storage.cacher]") {
  Backend backend(Form::kObservingCacher, 1);
  for (int i = 0; i < 3000; ++i) REQUIRE(backend.Create("a" + std::to_string(i)) != nullptr);
  auto watch = backend.WatchFrom("1");
  for (int i = 0; i < 3000; ++i) {
    const auto event = watch.Next();
    REQUIRE(event);
    REQUIRE(event->resource_version == std::to_string(i + 2));
  }
  backend.Create("last");
  CHECK(watch.NextText() == "ADDED last 3002");
}

// docs/security.md, row 81. One more than the largest revision was none at all.
TEST_CASE("storage.cacher: a watch from the largest resourceVersion waits for what is written then",
          "[storage.cacher]") {
  const auto form = GENERATE(Form::kStore, Form::kObservingCacher, Form::kFollowingCacher);
  const auto* const version = GENERATE("9223372036854775807", "18446744073709551615");
  INFO(apiserver::testing::FormName(form) << " from " << version);
  Backend backend(form);
  backend.Create("before");
  auto watch = backend.WatchFrom(version);

  CHECK(watch.Waits());
  backend.Create("after");

  CHECK(watch.Waits());
  CHECK(watch.Ready().empty());
}

TEST_CASE("storage.cacher: a watch survives a restart of its server", "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  backend.Create("a");
  backend.Create("b");
  storage::cacher::Options options;
  options.store.engine = backend.engine.get();
  options.store.kind = backend.kind;
  options.store.prefix = "/registry/test.example.com/widgets";
  options.executor = backend.pool.get();
  const auto restarted = storage::cacher::New(options);
  ListOptions from;
  from.resource_version = "2";
  testing::WatchReader watch(std::move(*restarted->Watch(backend.ctx, "/", from)));
  backend.Create("c");
  CHECK(watch.NextText() == "ADDED b 3");
  CHECK(watch.NextText() == "ADDED c 4");
  restarted->Stop();
}

TEST_CASE("storage.cacher: an idle watch gets a bookmark every minute", "[storage.cacher]") {
  TimedCacher timed;
  CHECK(timed.Read().empty());
  CHECK(timed.executor.timers() == 1);
  timed.clock.Advance(30);
  timed.executor.RunTimers();
  CHECK(timed.bell->rung == 0);
  timed.clock.Advance(31);
  timed.executor.RunTimers();
  CHECK(timed.bell->rung == 1);
  const auto events = timed.Read();
  REQUIRE(events.size() == 1);
  CHECK(events[0].type == watch::EventType::kBookmark);
  CHECK(events[0].resource_version == "1");
  CHECK(!events[0].initial_events_end);
  CHECK(timed.Read().empty());
}

TEST_CASE("storage.cacher: a bookmark tells of writes to other resources", "[storage.cacher]") {
  TimedCacher timed;
  CHECK(timed.Read().empty());
  storage::kv::TxnRequest txn;
  txn.key = "/other/thing";
  txn.value = std::make_shared<const std::string>("{}");
  REQUIRE(timed.engine->Txn(timed.ctx, txn)->succeeded);
  timed.clock.Advance(61);
  const auto events = timed.Read();
  REQUIRE(events.size() == 1);
  CHECK(events[0].resource_version == "2");
}

TEST_CASE("storage.cacher: a bookmark comes two seconds before the watch ends",
          "[storage.cacher]") {
  TimedCacher timed(10);
  CHECK(timed.Read().empty());
  timed.clock.Advance(7);
  CHECK(timed.Read().empty());
  timed.clock.Advance(1);
  const auto events = timed.Read();
  REQUIRE(events.size() == 1);
  CHECK(events[0].type == watch::EventType::kBookmark);
}

TEST_CASE("storage.cacher: a watch that is gone stops its timer", "[storage.cacher]") {
  TimedCacher timed;
  CHECK(timed.Read().empty());
  timed.stream.reset();
  timed.executor.RunTimers();
  CHECK(timed.executor.timers() == 0);
}

TEST_CASE("storage.cacher: a cacher may go before its engine", "[storage.cacher]") {
  const auto engine = storage::memory::NewEngine();
  ManualExecutor executor;
  storage::cacher::Options options;
  options.store.engine = engine.get();
  options.store.kind = testing::NewWidgetKind();
  options.store.prefix = "/p";
  options.executor = &executor;
  storage::cacher::New(options)->Stop();
  storage::kv::TxnRequest txn;
  txn.key = "/p/ns/one";
  txn.value = std::make_shared<const std::string>("{}");
  CHECK(engine->Txn(Context::Background(), txn)->succeeded);
}

TEST_CASE("storage.cacher: a watch that falls behind the history is closed and can be resumed",
          "[storage.cacher]") {
  Backend backend(Form::kObservingCacher, 1);
  auto slow = backend.WatchFrom("1");
  auto idle = backend.WatchFrom("1", "/other");
  CHECK(idle.Waits());
  backend.Create("first");
  CHECK(slow.NextText() == "ADDED first 2");
  for (int i = 0; i < 3000; ++i) REQUIRE(backend.Create("a" + std::to_string(i)) != nullptr);

  CHECK_FALSE(slow.Next());
  CHECK(backend.slow_watches == 1);
  auto resumed = backend.WatchFrom("2");
  for (int i = 0; i < 3000; ++i) REQUIRE(resumed.Next()->resource_version == std::to_string(i + 3));
  // Nothing was there for it to read.
  backend.Create("its", "other");
  CHECK(idle.NextText() == "ADDED its 3003");
  CHECK(backend.slow_watches == 1);
}
