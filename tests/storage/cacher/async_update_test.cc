#include "apiserver/storage/value/transformer.h"
#include "base/kept_spans.h"
#include "storage/backends.h"
#include "storage/held_engine.h"

// Updates that hold no thread while their write is made.
namespace apiserver::inline v0 {
namespace {

using apiserver::storage::Interface;
using testing::Backend;
using testing::Form;
using Outcome = Interface::UpdateOutcome;

// A transformer that is told from none.
class Mirror final : public storage::value::Transformer {
 public:
  Result<storage::value::FromStorage> TransformFromStorage(std::string_view stored,
                                                           std::string_view) const override {
    return storage::value::FromStorage{std::string(stored.rbegin(), stored.rend()), false};
  }
  Result<std::string> TransformToStorage(std::string_view plain, std::string_view) const override {
    return std::string(plain.rbegin(), plain.rend());
  }
};

// A cacher over an engine that can hold writes.
struct Fixture {
  explicit Fixture(storage::value::TransformerPtr transformer = nullptr) {
    apiserver::storage::cacher::Options options;
    options.store.engine = &held;
    options.store.kind = kind;
    options.store.prefix = "/registry/test.example.com/widgets";
    options.store.transformer = std::move(transformer);
    options.executor = pool.get();
    storage = apiserver::storage::cacher::New(options);
    REQUIRE(storage->Create(ctx, Backend::KeyOf("one"), *testing::NewWidget(kind, "one"), {}).ok());
  }
  ~Fixture() {
    storage->Stop();
    pool->Stop();
    storage.reset();
    engine->Stop();
  }

  // Adds one to the size.
  storage::TryUpdate Grow() {
    return [this](const runtime::ObjectPtr& current) -> Result<storage::Update> {
      ++tries;
      storage::Update update;
      update.object = current->Clone();
      update.object->Edit("spec", "size") = (*current)["spec"]["size"].AsInt() + 1;
      return update;
    };
  }
  void Start(storage::TryUpdate try_update) {
    storage->GuaranteedUpdateAsync(ctx, Backend::KeyOf("one"), {}, std::move(try_update),
                                   [this](Outcome outcome) {
                                     CHECK(told == 0);
                                     got = std::move(outcome);
                                     ++told;
                                   });
  }
  std::int64_t Size() {
    return (**storage->Get(ctx, Backend::KeyOf("one"), {}))["spec"]["size"].AsInt();
  }

  Context ctx = Context::Child(Context::Background());
  runtime::KindPtr kind = testing::NewWidgetKind();
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"cacher", 2});
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  testing::HeldEngine held{*engine};
  std::unique_ptr<Interface> storage;
  std::atomic<int> tries = 0;
  std::atomic<int> told = 0;
  Outcome got;
};

TEST_CASE("storage.cacher: an asynchronous update holds no thread while it is written",
          "[storage.cacher]") {
  const bool encrypted = GENERATE(false, true);
  Fixture fixture(encrypted ? std::make_shared<Mirror>() : nullptr);
  const std::int64_t before = fixture.Size();
  fixture.held.Hold();
  fixture.Start(fixture.Grow());
  CHECK(fixture.told == 0);
  CHECK(fixture.Size() == before);

  fixture.held.Release();
  REQUIRE(fixture.told == 1);
  REQUIRE(fixture.got.object != nullptr);
  CHECK_FALSE(fixture.got.unchanged);
  CHECK((*fixture.got.object)["spec"]["size"].AsInt() == before + 1);
  const auto read = fixture.storage->Get(fixture.ctx, Backend::KeyOf("one"), {});
  CHECK((*read)->resource_version() == fixture.got.object->resource_version());
  CHECK(fixture.tries == 1);
}

TEST_CASE("storage.cacher: an asynchronous update that lost a race goes on where it may wait",
          "[storage.cacher]") {
  const bool encrypted = GENERATE(false, true);
  Fixture fixture(encrypted ? std::make_shared<Mirror>() : nullptr);
  const std::int64_t before = fixture.Size();
  fixture.held.Hold();
  fixture.Start(fixture.Grow());
  const auto key = Backend::KeyOf("one");
  REQUIRE(fixture.storage->GuaranteedUpdate(fixture.ctx, key, {}, fixture.Grow()).ok());

  fixture.held.Release();
  REQUIRE(fixture.told == 1);
  REQUIRE(fixture.got.object == nullptr);
  CHECK(fixture.tries == 2);
  const auto updated = fixture.got.rest(Context::Background());
  REQUIRE(updated.ok());
  CHECK((**updated)["spec"]["size"].AsInt() == before + 2);
  CHECK(fixture.Size() == before + 2);
  CHECK(fixture.tries == 3);
}

TEST_CASE("storage.cacher: an asynchronous update tells an error of its write",
          "[storage.cacher]") {
  Fixture fixture;
  const std::int64_t before = fixture.Size();
  const Status unknown(Reason::kTimeout, "the outcome is unknown");
  fixture.held.Hold();
  fixture.Start(fixture.Grow());
  fixture.held.Fail(unknown);
  REQUIRE(fixture.told == 1);
  REQUIRE(fixture.got.object == nullptr);
  // It is not known to have failed, so it is not tried again.
  CHECK(fixture.got.rest(Context::Background()).status() == unknown);
  CHECK(fixture.tries == 1);
  CHECK(fixture.Size() == before);
}

TEST_CASE("storage.cacher: a cancelled asynchronous update is not tried again",
          "[storage.cacher]") {
  Fixture fixture;
  const std::int64_t before = fixture.Size();
  fixture.held.Hold();
  fixture.Start(fixture.Grow());
  const auto key = Backend::KeyOf("one");
  REQUIRE(fixture.storage->GuaranteedUpdate(Context::Background(), key, {}, fixture.Grow()).ok());
  const Status left(Reason::kTimeout, "the client has left");
  fixture.ctx.Cancel(left);
  fixture.held.Release();
  REQUIRE(fixture.told == 1);
  CHECK(fixture.got.rest(Context::Background()).status() == left);
  CHECK(fixture.tries == 2);
  fixture.ctx = Context::Background();
  CHECK(fixture.Size() == before + 1);
}

TEST_CASE("storage.cacher: an asynchronous update ends when its storage stops",
          "[storage.cacher]") {
  Fixture fixture;
  fixture.held.Hold();
  fixture.Start(fixture.Grow());
  fixture.storage->Stop();
  fixture.engine->Stop();
  fixture.held.Release();
  REQUIRE(fixture.told == 1);
  CHECK(fixture.got.rest(Context::Background()).status().reason() == Reason::kServiceUnavailable);
}

TEST_CASE("storage.cacher: an asynchronous update without a write ends at once",
          "[storage.cacher]") {
  Fixture fixture;
  fixture.held.Hold();
  SECTION("it changes nothing") {
    fixture.Start([](const runtime::ObjectPtr& current) -> Result<storage::Update> {
      return storage::Update{.object = current->Clone()};
    });
    REQUIRE(fixture.told == 1);
    CHECK(fixture.got.unchanged);
    CHECK(fixture.got.object->resource_version() == "2");
  }
  SECTION("it is refused") {
    const Status refusal(Reason::kForbidden, "no");
    fixture.Start([&](const runtime::ObjectPtr&) -> Result<storage::Update> { return refusal; });
    REQUIRE(fixture.told == 1);
    CHECK(fixture.got.object == nullptr);
    CHECK(fixture.got.rest(Context::Background()).status() == refusal);
  }
  SECTION("its precondition does not hold") {
    storage::UpdateOptions options;
    options.preconditions.uid = "another";
    fixture.storage->GuaranteedUpdateAsync(
        fixture.ctx, Backend::KeyOf("one"), options, fixture.Grow(),
        [&](Outcome outcome) { fixture.got = std::move(outcome); });
    CHECK(fixture.got.rest(Context::Background()).status().reason() == Reason::kConflict);
    CHECK(fixture.tries == 0);
  }
  SECTION("there is no object") {
    fixture.storage->GuaranteedUpdateAsync(
        fixture.ctx, Backend::KeyOf("none"), {}, fixture.Grow(),
        [&](Outcome outcome) { fixture.got = std::move(outcome); });
    CHECK(fixture.got.rest(Context::Background()).status().reason() == Reason::kNotFound);
  }
}

TEST_CASE("storage.cacher: an asynchronous update has the span of one that waits",
          "[storage.cacher]") {
  Fixture fixture;
  const auto kept = std::make_shared<testing::KeptSpans>();
  const auto tracer = testing::KeptSpans::Tracer(kept);
  fixture.ctx.Set(tracer->StartRoot("root"));
  fixture.Start(fixture.Grow());
  REQUIRE(fixture.got.object != nullptr);
  const auto spans = kept->all();
  const trace::SpanData& span = testing::SpanNamed(spans, "GuaranteedUpdate store");
  CHECK(span.status == trace::SpanStatus::kUnset);
  CHECK(testing::AttributeOf(span, "key") == Backend::KeyOf("one"));
}

}  // namespace
}  // namespace apiserver::inline v0
