#include "apiserver/registry/source_store.h"

#include <atomic>
#include <map>
#include <thread>

#include "apiserver/base/sync.h"
#include "apiserver/testing/server/fake_clock.h"
#include "registry/fixture.h"

using namespace apiserver;  // NOLINT: a test.

namespace {

// The state of a Shelf that tests look at; the Shelf belongs to its store.
struct ShelfState {
  std::map<std::string, std::unique_ptr<runtime::Object>> things;  // "ns/name".
  std::vector<std::string> calls;                                  // "create a".
  std::map<std::string, Status> failures;  // Of the next call of a function: "create".
  bool write_before_failing = false;
  bool keep_metadata = true;
};

// A source over a map.
class Shelf final : public registry::Source {
 public:
  using Shared = std::shared_ptr<Guarded<ShelfState>>;
  explicit Shelf(Shared state, std::shared_ptr<registry::SourceChanges>* changes)
      : state_(std::move(state)), changes_(changes) {}

  void Start(std::shared_ptr<registry::SourceChanges> changes) override {
    *changes_ = std::move(changes);
  }
  Result<Objects> List(const Context&) override {
    if (Status failure = Begin("list", ""); !failure.ok()) return failure;
    Objects objects;
    {
      auto state = state_->Lock();
      for (const auto& [key, thing] : state->things) objects.push_back(thing->Clone());
    }
    if (after_list) after_list();
    return objects;
  }
  Result<std::unique_ptr<runtime::Object>> Get(const Context&, std::string_view space,
                                               std::string_view name) override {
    if (Status failure = Begin("get", name); !failure.ok()) return failure;
    auto state = state_->Lock();
    const auto found = state->things.find(std::string(space) + "/" + std::string(name));
    if (found == state->things.end()) return Status(Reason::kNotFound, "no such thing");
    return found->second->Clone();
  }
  Status Create(const Context&, runtime::Object& object) override {
    Status failure = Begin("create", object.name());
    if (!failure.ok() && !state_->Lock()->write_before_failing) return failure;
    object.Edit("status", "phase") = "Made";
    Put(object);
    if (in_create) in_create(object);
    return failure;
  }
  Status Update(const Context&, const runtime::Object&, runtime::Object& object) override {
    Status failure = Begin("update", object.name());
    if (!failure.ok() && !state_->Lock()->write_before_failing) return failure;
    Put(object);
    return failure;
  }
  Status Delete(const Context&, const runtime::Object& old) override {
    Status failure = Begin("delete", old.name());
    if (!failure.ok() && !state_->Lock()->write_before_failing) return failure;
    state_->Lock()->things.erase(KeyOf(old));
    return failure;
  }

  std::function<void()> after_list;
  std::function<void(runtime::Object&)> in_create;

 private:
  static std::string KeyOf(const runtime::Object& object) {
    return std::string(object.namespace_()) + "/" + std::string(object.name());
  }
  Status Begin(const std::string& function, std::string_view name) {
    auto state = state_->Lock();
    state->calls.push_back(function + (name.empty() ? "" : " ") + std::string(name));
    return std::exchange(state->failures[function], Status());
  }
  void Put(const runtime::Object& object) {
    auto state = state_->Lock();
    auto kept = object.Clone();
    if (!state->keep_metadata) {
      const std::string name(object.name());
      const std::string space(object.namespace_());
      kept->Erase("metadata");
      kept->Edit("metadata", "name") = name;
      kept->Edit("metadata", "namespace") = space;
    }
    state->things[KeyOf(object)] = std::move(kept);
  }

  const Shared state_;
  std::shared_ptr<registry::SourceChanges>* const changes_;
};

struct Shelved {
  explicit Shelved(std::function<void(Shelf&, registry::SourceOptions&)> bend = nullptr,
                   bool wait = true) {
    registry::StorageConfig config;
    config.executor = pool.get();
    config.clock = &clock;
    registry::SourceOptions options;
    options.store.kind = kind;
    options.store.strategy = strategy;
    options.retry_interval = std::chrono::milliseconds(5);
    auto source = std::make_unique<Shelf>(state, &changes);
    shelf = source.get();
    if (bend) bend(*source, options);
    ctx.Set(rest::Namespace{"ns"});
    store = registry::NewSourceStore(config, std::move(options), std::move(source)).value();
    if (wait) REQUIRE(changes->Wait(ctx).ok());
  }
  ~Shelved() {
    store->Destroy();
    store.reset();
    pool->Stop();
  }

  std::unique_ptr<runtime::Object> New(std::string_view name, int size = 1) {
    auto object = testing::NewWidget(kind, name);
    object->Erase("metadata", "uid");
    object->Edit("spec", "size") = size;
    return object;
  }
  Result<runtime::ObjectPtr> Create(std::string_view name, int size = 1, bool dry_run = false) {
    meta::CreateOptions options;
    options.dry_run = dry_run;
    return store->Create(ctx, New(name, size), nullptr, options);
  }
  Result<rest::UpdateResult> Edit(std::string_view name, testing::Edited::Edit edit,
                                  bool dry_run = false) {
    const testing::Edited info(std::move(edit));
    rest::UpdateRequest request{info, nullptr, nullptr, false, {}};
    request.options.dry_run = dry_run;
    return store->Update(ctx, name, request);
  }
  Result<rest::UpdateResult> Resize(std::string_view name, int size, bool dry_run = false) {
    return Edit(
        name, [size](runtime::Object& object) { object.Edit("spec", "size") = size; }, dry_run);
  }
  Result<rest::DeleteResult> Delete(std::string_view name, meta::DeleteOptions options = {}) {
    return store->Delete(ctx, name, nullptr, options);
  }
  // Changes the data without a report.
  void Place(std::string_view name, int size) {
    auto object = New(name, size);
    state->Lock()->things["ns/" + std::string(name)] = std::move(object);
  }
  void Fail(const std::string& function, Status status) {
    state->Lock()->failures[function] = std::move(status);
  }
  // Since the last call, without lists.
  std::string Calls() {
    std::string text;
    for (const std::string& call : std::exchange(state->Lock()->calls, {})) {
      if (call != "list") text.append(text.empty() ? "" : ", ").append(call);
    }
    return text;
  }
  // "a:1 b:2", names and sizes.
  std::string Sizes() {
    const auto list = store->List(ctx, {});
    if (!list.ok()) return list.status().ToString();
    std::string text;
    for (const auto& item : list->items) {
      text.append(text.empty() ? "" : " ").append(item->name()).append(":");
      text.append(std::to_string((*item)["spec"]["size"].AsInt()));
    }
    return text;
  }
  std::unique_ptr<watch::Stream> Watch(std::string_view version) {
    meta::ListOptions options;
    options.watch = true;
    options.resource_version = version;
    return store->Watch(ctx, options, RealClock().Now() + std::chrono::minutes(5)).value();
  }
  // "ADDED a MODIFIED a": what a watch has to tell now.
  static std::string Told(watch::Stream& stream) {
    std::vector<watch::Event> events;
    while (stream.Next(events, 100, {}) == watch::Stream::State::kMore) {
    }
    std::string text;
    for (const watch::Event& event : events) {
      text.append(text.empty() ? "" : " ").append(watch::EventTypeWord(event.type)).append(" ");
      text.append(event.object != nullptr ? std::string(event.object->name())
                                          : std::to_string(event.error.code()));
    }
    return text;
  }

  testing::FakeClock clock;
  std::unique_ptr<ThreadPool> pool = NewThreadPool({.name = "source", .threads = 2});
  runtime::KindPtr kind = testing::NewWidgetKind();
  std::shared_ptr<testing::WidgetStrategy> strategy = std::make_shared<testing::WidgetStrategy>();
  Shelf::Shared state = std::make_shared<Guarded<ShelfState>>();
  std::shared_ptr<registry::SourceChanges> changes;
  Shelf* shelf = nullptr;
  Context ctx = Context::Child(Context::Background());
  std::shared_ptr<registry::Store> store;
};

}  // namespace

TEST_CASE("registry: a source's objects are served, and its writes reach it", "[registry]") {
  Shelved fixture;
  CHECK(fixture.Sizes().empty());

  const auto made = fixture.Create("a", 1).value();
  CHECK(made->uid().size() == 36);
  CHECK_FALSE(made->resource_version().empty());
  CHECK((*made)["status"]["phase"].AsString() == "Made");
  CHECK(fixture.Resize("a", 2).ok());
  CHECK(fixture.Sizes() == "a:2");
  CHECK(fixture.Delete("a").ok());

  CHECK(fixture.Sizes().empty());
  CHECK(fixture.Calls() == "create a, update a, delete a");
  CHECK(fixture.state->Lock()->things.empty());
}

TEST_CASE("registry: dry runs, refused and idle writes never reach a source", "[registry]") {
  Shelved fixture;
  REQUIRE(fixture.Create("a", 1).ok());
  (void)fixture.Calls();

  CHECK(fixture.Create("b", 1, true).ok());
  CHECK(fixture.Resize("a", 5, true).ok());
  meta::DeleteOptions dry;
  dry.dry_run = true;
  CHECK(fixture.Delete("a", dry).ok());
  CHECK(fixture.Create("c", -1).status().code() == 422);
  CHECK(fixture.Create("a", 1).status().code() == 409);
  CHECK(fixture.Resize("a", -1).status().code() == 422);
  CHECK(fixture.Resize("a", 1).ok());
  CHECK(fixture.Resize("b", 1).status().code() == 404);
  meta::DeleteOptions other;
  other.preconditions.uid = "other";
  CHECK(fixture.Delete("a", other).status().code() == 409);

  CHECK(fixture.Calls().empty());
  CHECK(fixture.Sizes() == "a:1");
}

TEST_CASE("registry: a watch tells of a source's writes and of its own changes", "[registry]") {
  Shelved fixture;
  const auto a = fixture.Create("a", 1).value();
  const auto watch = fixture.Watch(a->resource_version());

  REQUIRE(fixture.Resize("a", 2).ok());
  fixture.Place("a", 3);
  fixture.changes->Changed("ns", "a");
  REQUIRE(fixture.changes->Wait(fixture.ctx).ok());
  fixture.Place("b", 1);
  fixture.changes->Changed("ns", "b");
  REQUIRE(fixture.changes->Wait(fixture.ctx).ok());
  fixture.state->Lock()->things.erase("ns/a");
  fixture.changes->Changed("ns", "a");
  REQUIRE(fixture.changes->Wait(fixture.ctx).ok());

  CHECK(Shelved::Told(*watch) == "MODIFIED a MODIFIED a ADDED b DELETED a");
  CHECK(fixture.Sizes() == "b:1");
}

TEST_CASE("registry: ChangedAll reads everything anew", "[registry]") {
  Shelved fixture;
  const auto a = fixture.Create("a", 1).value();
  REQUIRE(fixture.Create("b", 1).ok());
  const auto b = fixture.store->Get(fixture.ctx, "b", {}).value();
  const auto watch = fixture.Watch(b->resource_version());

  fixture.state->Lock()->things.erase("ns/b");
  fixture.Place("c", 3);
  fixture.changes->ChangedAll();
  REQUIRE(fixture.changes->Wait(fixture.ctx).ok());

  CHECK(fixture.Sizes() == "a:1 c:3");
  CHECK(Shelved::Told(*watch) == "DELETED b ADDED c");
  CHECK(fixture.store->Get(fixture.ctx, "a", {}).value()->resource_version() ==
        a->resource_version());
}

TEST_CASE("registry: a source that keeps content only loses no metadata", "[registry]") {
  Shelved fixture;
  fixture.state->Lock()->keep_metadata = false;
  auto object = fixture.New("a", 1);
  object->Edit("metadata", "labels", "color") = "red";
  const auto made = fixture.store->Create(fixture.ctx, std::move(object), nullptr, {}).value();

  fixture.state->Lock()->things["ns/a"]->Edit("spec", "size") = 4;
  fixture.changes->Changed("ns", "a");
  REQUIRE(fixture.changes->Wait(fixture.ctx).ok());

  const auto now = fixture.store->Get(fixture.ctx, "a", {}).value();
  CHECK((*now)["spec"]["size"].AsInt() == 4);
  CHECK(now->uid() == made->uid());
  CHECK(now->labels()["color"].AsString() == "red");
  CHECK(now->metadata()["creationTimestamp"].AsString() ==
        made->metadata()["creationTimestamp"].AsString());
}

TEST_CASE("registry: a source's errors are API errors about the object", "[registry]") {
  struct Case {
    Status error;
    int code;
    std::string message;
  };
  const Case expected = GENERATE(
      Case{{Reason::kAlreadyExists, "x"}, 409, R"(widgets.test.example.com "a" already exists)"},
      Case{{Reason::kConflict, "moved on"},
           409,
           R"(Operation cannot be fulfilled on widgets.test.example.com "a": moved on)"},
      Case{{Reason::kInternalError, "broken"}, 500, "Internal error occurred: broken"},
      Case{{Reason::kServiceUnavailable, "no disk"}, 503, "no disk"},
      Case{{Reason::kForbidden, "read only"}, 403, "read only"});
  Shelved fixture;
  fixture.Fail("create", expected.error);

  const auto refused = fixture.Create("a", 1);

  CHECK(refused.status().code() == expected.code);
  CHECK(refused.status().message() == expected.message);
  CHECK(fixture.Sizes().empty());
}

TEST_CASE("registry: a write that a source did in spite of its error is not missed", "[registry]") {
  Shelved fixture;
  REQUIRE(fixture.Create("a", 1).ok());
  fixture.state->Lock()->write_before_failing = true;
  const Status timeout(Reason::kTimeout, "no answer");

  fixture.Fail("create", timeout);
  CHECK(fixture.Create("b", 1).status().message() == "no answer");
  fixture.Fail("update", timeout);
  CHECK(fixture.Resize("b", 7).status().code() == 504);
  CHECK(fixture.Sizes() == "a:1 b:7");
  fixture.Fail("delete", timeout);
  CHECK(fixture.Delete("a").status().code() == 504);
  CHECK(fixture.Sizes() == "b:7");
}

TEST_CASE("registry: a read that fails is tried again", "[registry]") {
  Shelved fixture;
  fixture.Place("a", 1);
  fixture.Fail("get", {Reason::kServiceUnavailable, "asleep"});
  fixture.changes->Changed("ns", "a");

  const Status first = fixture.changes->Wait(fixture.ctx);

  CHECK(first.message() == "asleep");
  const auto deadline = RealClock().Now() + std::chrono::seconds(30);
  while (fixture.Sizes().empty() && RealClock().Now() < deadline) std::this_thread::yield();
  CHECK(fixture.Sizes() == "a:1");
}

TEST_CASE("registry: nothing is served before a source has been listed", "[registry]") {
  Shelved fixture(
      [](Shelf&, registry::SourceOptions& options) {
        options.retry_interval = std::chrono::hours(1);
      },
      false);
  // The first list may be done already; another store's list fails.
  Shelved failing(
      [](Shelf& shelf, registry::SourceOptions& options) {
        options.retry_interval = std::chrono::hours(1);
        shelf.after_list = [] { throw std::runtime_error("no catalogue"); };
      },
      false);
  CHECK(failing.changes->Wait(failing.ctx).message() == "no catalogue");
  CHECK(failing.store->List(failing.ctx, {}).status().code() == 429);
  CHECK(failing.Create("a", 1).status().code() == 429);
  CHECK(failing.store->ReadinessCheck().message() ==
        "widgets have not been listed yet: no catalogue");
  CHECK(fixture.changes->Wait(fixture.ctx).ok());
  CHECK(fixture.store->ReadinessCheck().ok());
}

TEST_CASE("registry: a list that a write overtakes does not undo the write", "[registry]") {
  Shelved fixture;
  REQUIRE(fixture.Create("a", 1).ok());
  bool once = true;
  // After the list was taken, before it is applied.
  fixture.shelf->after_list = [&] {
    if (!std::exchange(once, false)) return;
    CHECK(fixture.Create("b", 1).ok());
    CHECK(fixture.Resize("a", 2).ok());
  };
  const auto watch = fixture.Watch(fixture.store->List(fixture.ctx, {}).value().resource_version);

  fixture.changes->ChangedAll();
  REQUIRE(fixture.changes->Wait(fixture.ctx).ok());

  CHECK_FALSE(once);
  CHECK(fixture.Sizes() == "a:2 b:1");
  CHECK(Shelved::Told(*watch) == "ADDED b MODIFIED a");
}

TEST_CASE("registry: a source may report changes from inside its functions", "[registry]") {
  Shelved fixture;
  fixture.shelf->in_create = [&](runtime::Object& object) {
    fixture.changes->Changed(object.namespace_(), object.name());
  };
  const auto made = fixture.Create("a", 1).value();
  REQUIRE(fixture.changes->Wait(fixture.ctx).ok());
  CHECK(fixture.store->Get(fixture.ctx, "a", {}).value()->resource_version() ==
        made->resource_version());
}

TEST_CASE("registry: what a source makes of an object must stay that object", "[registry]") {
  Shelved fixture;
  fixture.shelf->in_create = [](runtime::Object& object) {
    object.Edit("metadata", "name") = "other";
  };
  const auto made = fixture.Create("a", 1);
  CHECK(made.status().code() == 500);
  CHECK(made.status().message() == "Internal error occurred: source made /ns/other of /ns/a");
  // It was stored under its name before.
  CHECK(fixture.Sizes() == "a:1");
}

TEST_CASE("registry: finalizers hold a source's object until they are gone", "[registry]") {
  Shelved fixture;
  auto object = fixture.New("a", 1);
  runtime::ListBuilder list(object->arena());
  list.Add(runtime::Value::String("example.com/hold"));
  object->Edit("metadata", "finalizers") = list.Build();
  REQUIRE(fixture.store->Create(fixture.ctx, std::move(object), nullptr, {}).ok());

  REQUIRE(fixture.Delete("a").ok());
  CHECK(fixture.Calls() == "create a, update a");
  CHECK(fixture.store->Get(fixture.ctx, "a", {}).value()->deleting());
  REQUIRE(fixture.Edit("a", [](runtime::Object& o) { o.Erase("metadata", "finalizers"); }).ok());

  CHECK(fixture.Calls() == "delete a");
  CHECK(fixture.Sizes().empty());
}

TEST_CASE("registry: a source's history is bounded, and what is older has expired", "[registry]") {
  Shelved fixture([](Shelf&, registry::SourceOptions& options) {
    options.history_events_max = 3;
    options.history_window = std::chrono::seconds(0);
  });
  const std::string old(fixture.Create("a", 1).value()->resource_version());
  for (int size = 2; size < 20; ++size) REQUIRE(fixture.Resize("a", size).ok());
  meta::ListOptions exact;
  exact.resource_version = old;
  exact.resource_version_match = meta::ResourceVersionMatch::kExact;
  CHECK(fixture.store->List(fixture.ctx, exact).status().code() == 410);
  // Below where the revisions of this process begin.
  CHECK(Shelved::Told(*fixture.Watch("5")) == "ERROR 410");
}

TEST_CASE("registry: writers of one source object wait for each other", "[registry]") {
  Shelved fixture;
  REQUIRE(fixture.Create("a", 0).ok());
  const auto grow = [&] {
    for (int i = 0; i < 25; ++i) {
      Result<rest::UpdateResult> done = Status(Reason::kConflict, "");
      while (!done.ok() && done.status().reason() == Reason::kConflict) {
        done = fixture.Edit("a", [](runtime::Object& object) {
          object.Edit("spec", "size") = object["spec"]["size"].AsInt() + 1;
        });
      }
      if (!done.ok()) return;
    }
  };
  {
    Thread one("one", grow);
    Thread two("two", grow);
    Thread three("three", grow);
  }
  CHECK(fixture.Sizes() == "a:75");
  CHECK(fixture.state->Lock()->things["ns/a"]->root()["spec"]["size"].AsInt() == 75);
}

TEST_CASE("registry: a source store has status and refuses what it cannot do", "[registry]") {
  Shelved fixture;
  REQUIRE(fixture.Create("a", 1).ok());
  const auto status =
      registry::NewStatusStore(fixture.store, std::make_shared<testing::StatusStrategy>()).value();
  rest::Updater* updater = rest::Capabilities::Of(*status).updater;
  REQUIRE(updater != nullptr);
  const testing::Edited info([](runtime::Object& o) { o.Edit("status", "phase") = "Ready"; });
  CHECK(updater->Update(fixture.ctx, "a", {info, nullptr, nullptr, false, {}}).ok());
  CHECK(fixture.Calls() == "create a, update a");
  CHECK((*fixture.state->Lock()->things["ns/a"])["status"]["phase"].AsString() == "Ready");
}

TEST_CASE("registry: a source without writes answers 405", "[registry]") {
  class Empty final : public registry::Source {
   public:
    void Start(std::shared_ptr<registry::SourceChanges> changes) override {
      kept = std::move(changes);
      if (kept->Wait(Context::Background()).ok()) started = true;
    }
    Result<Objects> List(const Context&) override { return Objects(); }
    Result<std::unique_ptr<runtime::Object>> Get(const Context&, std::string_view,
                                                 std::string_view) override {
      return std::unique_ptr<runtime::Object>();
    }
    std::shared_ptr<registry::SourceChanges> kept;
    bool started = false;
  };
  Shelved fixture;
  registry::StorageConfig config;
  config.executor = fixture.pool.get();
  registry::SourceOptions options;
  options.store.kind = fixture.kind;
  options.store.strategy = fixture.strategy;
  auto source = std::make_unique<Empty>();
  Empty* empty = source.get();
  const auto store = registry::NewSourceStore(config, options, std::move(source)).value();
  CHECK(empty->started);
  const auto changes = empty->kept;
  REQUIRE(changes->Wait(fixture.ctx).ok());
  const auto made = store->Create(fixture.ctx, fixture.New("a"), nullptr, {});
  CHECK(made.status().code() == 405);
  CHECK(made.status().message() ==
        R"(create is not supported on resources of kind "widgets.test.example.com")");
  store->Destroy();
  CHECK(changes->Wait(fixture.ctx).code() == 503);
}

TEST_CASE("registry: a source store says which option is missing", "[registry]") {
  Shelved fixture;
  registry::StorageConfig config;
  registry::SourceOptions options;
  std::shared_ptr<registry::SourceChanges> changes;
  const auto error = [&](bool with_source = true) {
    std::unique_ptr<registry::Source> source;
    if (with_source) source = std::make_unique<Shelf>(fixture.state, &changes);
    return std::string(
        registry::NewSourceStore(config, options, std::move(source)).status().message());
  };
  CHECK(error(false) == "registry source store: a source is required");
  CHECK(error() == "registry source store: executor is required");
  config.executor = fixture.pool.get();
  CHECK(error() == "registry source store: kind is required");
  options.store.kind = fixture.kind;
  CHECK(error() == "registry source store: strategy is required");
  options.store.strategy = fixture.strategy;
  options.store.ttl = [](const runtime::Object&, bool) { return std::nullopt; };
  CHECK(error() == "registry source store: ttl must be null");
  options.store.ttl = nullptr;
  options.retry_interval = std::chrono::milliseconds(0);
  CHECK(error() == "registry source store: retry_interval must be positive");
}
