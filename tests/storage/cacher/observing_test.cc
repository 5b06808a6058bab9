#include <map>
#include <memory>
#include <string>
#include <utility>

#include "storage/backends.h"
#include "storage/cacher/feed.h"
#include "storage/forwarding_engine.h"

// A cacher as the observer of its engine's commits.
using namespace apiserver;  // NOLINT: a test.
using testing::NamesOf;

namespace {

namespace kv = storage::kv;

// Counts the observers that an engine has, and how often it calls those of each prefix.
class CountingEngine final : public testing::ForwardingEngine {
 public:
  using ForwardingEngine::ForwardingEngine;

  Result<std::unique_ptr<kv::Observation>> Observe(std::string_view prefix,
                                                   kv::Observer& observer) override {
    auto counted = std::make_unique<Counted>(*this, std::string(prefix), observer);
    auto observation = ForwardingEngine::Observe(prefix, *counted);
    if (!observation.ok()) return observation.status();
    counted->observation = std::move(*observation);
    return std::unique_ptr<kv::Observation>(std::move(counted));
  }

  int observers() const { return observers_; }
  int Calls(const std::string& prefix) const {
    auto calls = calls_.Lock();
    const auto found = calls->find(prefix);
    return found == calls->end() ? 0 : found->second;
  }

 private:
  struct Counted final : kv::Observation, kv::Observer {
    Counted(CountingEngine& e, std::string p, kv::Observer& o)
        : engine(e), prefix(std::move(p)), observer(o) {
      ++engine.observers_;
    }
    ~Counted() override {
      observation.reset();
      --engine.observers_;
    }
    kv::Revision begin() const override { return observation->begin(); }
    std::shared_ptr<const kv::Progress> progress() const override {
      return observation->progress();
    }
    void OnCommit(std::span<const kv::Event* const> events, kv::Revision revision) override {
      ++(*engine.calls_.Lock())[prefix];
      observer.OnCommit(events, revision);
    }
    void OnCompact(kv::Revision compacted) override { observer.OnCompact(compacted); }

    CountingEngine& engine;
    const std::string prefix;
    kv::Observer& observer;
    std::unique_ptr<kv::Observation> observation;
  };

  std::atomic<int> observers_{0};
  Guarded<std::map<std::string, int>> calls_;
};

// Several resources of one engine.
struct Resources {
  ~Resources() {
    cachers.clear();
    pool->Stop();
    inner->Stop();
  }
  storage::Interface& Open(const std::string& prefix) {
    storage::cacher::Options options;
    options.store.engine = &engine;
    options.store.kind = kind;
    options.store.prefix = prefix;
    options.executor = pool.get();
    return *(cachers[prefix] = storage::cacher::New(options));
  }
  // Whether it was written. From any thread.
  bool Put(const std::string& key) {
    kv::TxnRequest txn;
    txn.key = key;
    txn.value = std::make_shared<const std::string>("{}");
    const auto response = inner->Txn(ctx, txn);
    return response.ok() && response->succeeded;
  }
  void Write(const std::string& key) { REQUIRE(Put(key)); }

  Context ctx = Context::Background();
  runtime::KindPtr kind = testing::NewWidgetKind();
  std::unique_ptr<ThreadPool> pool = NewThreadPool({"cacher", 2});
  std::unique_ptr<kv::Engine> inner = storage::memory::NewEngine();
  CountingEngine engine{*inner};
  std::map<std::string, std::unique_ptr<storage::Interface>> cachers;
};

}  // namespace

TEST_CASE("storage.cacher: a cacher is called for its own resource's writes only",
          "[storage.cacher]") {
  Resources resources;
  resources.Open("/p");
  storage::Interface& idle = resources.Open("/q");
  CHECK(resources.engine.observers() == 2);
  for (int i = 0; i < 10; ++i) resources.Write("/p/ns/o" + std::to_string(i));
  resources.Write("/pp/ns/o");
  CHECK(resources.engine.Calls("/p/") == 10);
  CHECK(resources.engine.Calls("/q/") == 0);
  // It knows of the writes all the same.
  CHECK(*idle.CurrentResourceVersion(resources.ctx) == 12);
  CHECK(idle.GetList(resources.ctx, "/", {})->resource_version == "12");
  storage::GetOptions fresh;
  fresh.resource_version = "12";
  fresh.ignore_not_found = true;
  CHECK(idle.Get(resources.ctx.WithMayBlock(false), "/ns/o", fresh).ok());
}

TEST_CASE("storage.cacher: a cacher that was stopped is no longer called", "[storage.cacher]") {
  Resources resources;
  for (int i = 0; i < 3; ++i) {
    storage::Interface& torn_down = resources.Open("/p");
    resources.Write("/p/ns/o" + std::to_string(i));
    CHECK(resources.engine.Calls("/p/") == i + 1);
    torn_down.Stop();
    CHECK(resources.engine.observers() == 0);
  }
  resources.Write("/p/ns/another");
  CHECK(resources.engine.Calls("/p/") == 3);
}

TEST_CASE("storage.cacher: a cacher that comes and goes amid writes has those before it",
          "[storage.cacher]") {
  Resources resources;
  std::atomic<bool> stop{false};
  std::atomic<int> written{0};
  Thread writer("writer", [&] {
    // Few enough that fifty loads of them take no time.
    while (!stop && written < 5000 && resources.Put("/p/ns/o" + std::to_string(written))) ++written;
  });
  const auto give_up = RealClock().Now() + std::chrono::seconds(60);
  for (int i = 0; i < 50; ++i) {
    while (written <= i && RealClock().Now() < give_up) {
    }
    storage::Interface& cacher = resources.Open("/p");
    // These were acknowledged.
    const int before = written;
    CHECK(*cacher.Count(resources.ctx, "/") >= static_cast<std::size_t>(before));
    resources.cachers.clear();
  }
  stop = true;
  writer.Join();
  CHECK(resources.engine.observers() == 0);
  CHECK(written >= 50);
}

TEST_CASE("storage.cacher: a thread that waits for a revision is woken by another resource's write",
          "[storage.cacher]") {
  Resources resources;
  const auto cache = std::make_shared<storage::cacher::Cache>(
      storage::store::Options{.kind = resources.kind},
      storage::cacher::Cache::Limits{.changes_max = 1000, .history = nullptr}, RealClock());
  const auto feed = std::make_shared<storage::cacher::Feed>(
      storage::cacher::Feed::Options{.engine = resources.inner.get(),
                                     .executor = resources.pool.get(),
                                     .prefix = "/p/",
                                     .clock = &RealClock(),
                                     .log = &NullLogSink(),
                                     .progress = {}},
      cache);
  feed->Start();
  REQUIRE(cache->ready());
  const Context ctx = Context::Child(resources.ctx);
  std::atomic<kv::Revision> wanted{1};
  Notification done;
  Thread reader("reader", [&] {
    // Long enough that only being woken can end it in time.
    const auto deadline = RealClock().Now() + std::chrono::hours(10);
    while (wanted < 500 && cache->WaitFor(ctx, wanted, deadline)) ++wanted;
    done.Notify();
  });
  // Each write comes as the reader begins to wait for it, or a little before or after.
  const auto give_up = RealClock().Now() + std::chrono::seconds(60);
  for (int i = 2; i <= 500; ++i) {
    while (i % 2 == 0 && wanted < i && RealClock().Now() < give_up) {
    }
    resources.Write("/other/o" + std::to_string(i));
  }
  CHECK(done.WaitFor(std::chrono::seconds(60)));
  CHECK(wanted == 500);
  ctx.Cancel(Status(Reason::kTimeout, "the test is over"));
  reader.Join();
  feed->Stop();
}
