// Creates that are refused, by an engine whose state is ahead of what its observers have been told.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/testing/server/eventually.h"
#include "storage/backends.h"
#include "storage/forwarding_engine.h"

namespace async_create_test {
namespace {

using namespace apiserver;
using testing::Backend;
namespace kv = storage::kv;

// Tells its observers late, on request.
class LateEngine final : public testing::ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  Result<std::unique_ptr<kv::Observation>> Observe(std::string_view prefix,
                                                   kv::Observer& observer) override {
    auto late = std::make_unique<Late>(observer, gate_);
    auto observation = ForwardingEngine::Observe(prefix, *late);
    if (!observation.ok()) return observation.status();
    late->observation = std::move(*observation);
    observed_ = late.get();
    return std::unique_ptr<kv::Observation>(std::move(late));
  }

  // Keeps the events of commits from now on, until Release() delivers them.
  void Hold() {
    auto gate = gate_->Lock();
    gate->seen = observed_->observation->progress()->seen();
    gate->holds = true;
  }
  void Release() { observed_->Release(); }

 private:
  struct Gate {
    bool holds = false;
    kv::Revision seen = 0;  // While it holds: what has been delivered.
  };
  using SharedGate = std::shared_ptr<Guarded<Gate>>;

  // Says what has been delivered, not what has been committed.
  struct LateProgress final : kv::Progress {
    LateProgress(std::shared_ptr<const kv::Progress> p, SharedGate g)
        : inner(std::move(p)), gate(std::move(g)) {}
    kv::Revision seen() const override {
      const auto state = gate->Lock();
      return state->holds ? state->seen : inner->seen();
    }
    Context::Registration WhenSeen(kv::Revision revision,
                                   UniqueFunction<void()> tell) const override {
      return inner->WhenSeen(revision, std::move(tell));
    }
    const std::shared_ptr<const kv::Progress> inner;
    const SharedGate gate;
  };

  struct Late final : kv::Observation, kv::Observer {
    Late(kv::Observer& o, SharedGate g) : observer(o), gate(std::move(g)) {}
    ~Late() override { observation.reset(); }
    kv::Revision begin() const override { return observation->begin(); }
    std::shared_ptr<const kv::Progress> progress() const override {
      return std::make_shared<LateProgress>(observation->progress(), gate);
    }
    void OnCommit(std::span<const kv::Event* const> events, kv::Revision revision) override {
      if (!gate->Lock()->holds) return observer.OnCommit(events, revision);
      for (const kv::Event* event : events) kept.push_back(*event);
    }
    void Release() {
      for (const kv::Event& event : kept) {
        const kv::Event* const one = &event;
        observer.OnCommit({&one, 1}, event.kv.mod_revision);
      }
      kept.clear();
      gate->Lock()->holds = false;
    }

    kv::Observer& observer;
    const SharedGate gate;
    std::unique_ptr<kv::Observation> observation;
    std::vector<kv::Event> kept;
  };

  const SharedGate gate_ = std::make_shared<Guarded<Gate>>();
  Late* observed_ = nullptr;
};

struct Fixture {
  explicit Fixture(std::chrono::milliseconds fresh_wait = std::chrono::seconds(60)) {
    storage = Open(late, fresh_wait);
    writer = Open(*engine, fresh_wait);
  }
  ~Fixture() {
    for (auto* each : {&writer, &storage}) (*each)->Stop();
    pool->Stop();
    storage.reset();
    writer.reset();
    engine->Stop();
  }

  std::unique_ptr<storage::Interface> Open(kv::Engine& over, std::chrono::milliseconds fresh_wait) {
    storage::cacher::Options options;
    options.store.engine = &over;
    options.store.kind = kind;
    options.store.prefix = "/registry/test.example.com/widgets";
    options.executor = pool.get();
    options.fresh_wait = fresh_wait;
    return storage::cacher::New(options);
  }
  // Another writer takes the key, which `storage` is not told of.
  void TakeUnseen() {
    late.Hold();
    REQUIRE(writer->Create(ctx, kKey, *testing::NewWidget(kind, "one"), {}).ok());
    REQUIRE(storage->Get(loop, kKey, {}).status().reason() == Reason::kNotFound);
  }
  void Create() {
    storage->CreateAsync(loop, kKey, *testing::NewWidget(kind, "one"),
                         [this](const Result<runtime::ObjectPtr>& created) {
                           got = created.status();
                           ++told;
                         });
  }

  const std::string kKey = Backend::KeyOf("one");
  const Context ctx = Context::Child(Context::Background());
  // That of a request whose thread must not wait.
  const Context loop = ctx.WithMayBlock(false);
  const runtime::KindPtr kind = testing::NewWidgetKind();
  const std::unique_ptr<ThreadPool> pool = NewThreadPool({"cacher", 2});
  const std::unique_ptr<kv::Engine> engine = storage::memory::NewEngine();
  LateEngine late{*engine};
  std::unique_ptr<storage::Interface> storage;
  std::unique_ptr<storage::Interface> writer;
  Status got;  // Written before `told`.
  std::atomic<int> told = 0;
};

TEST_CASE("storage.cacher: after a refused create a read finds what has taken the key",
          "[storage.cacher]") {
  Fixture fixture;
  fixture.TakeUnseen();
  fixture.Create();
  CHECK(testing::Consistently([&] { return fixture.told == 0; }));

  fixture.late.Release();
  REQUIRE(testing::Eventually([&] { return fixture.told == 1; }));
  CHECK(fixture.got.reason() == Reason::kAlreadyExists);
  CHECK(fixture.storage->Get(fixture.loop, fixture.kKey, {}).ok());
}

TEST_CASE("storage.cacher: a create that the cache has seen refused is answered at once",
          "[storage.cacher]") {
  Fixture fixture;
  fixture.Create();
  REQUIRE(fixture.told == 1);
  CHECK(fixture.got.ok());
  fixture.Create();
  REQUIRE(fixture.told == 2);
  CHECK(fixture.got.reason() == Reason::kAlreadyExists);
}

TEST_CASE("storage.cacher: a refused create does not wait for ever", "[storage.cacher]") {
  SECTION("events that do not come") {
    Fixture fixture(std::chrono::milliseconds(20));
    fixture.TakeUnseen();
    fixture.Create();
    REQUIRE(testing::Eventually([&] { return fixture.told == 1; }));
    CHECK(fixture.got.reason() == Reason::kAlreadyExists);
  }
  SECTION("a storage that stops") {
    Fixture fixture;
    fixture.TakeUnseen();
    fixture.Create();
    CHECK(fixture.told == 0);
    fixture.storage->Stop();
    REQUIRE(fixture.told == 1);
    CHECK(fixture.got.reason() == Reason::kAlreadyExists);
  }
}

}  // namespace
}  // namespace async_create_test
