#include "storage/cacher/fresh_waiters.h"

#include <algorithm>

#include "storage/backends.h"
#include "storage/manual_executor.h"

// Reads that wait for a revision without a thread.
using namespace apiserver;  // NOLINT: a test.
using storage::cacher::Cache;
using storage::cacher::FreshWaiters;
using testing::Backend;
using testing::Form;

namespace {

struct Waiting {
  Waiting() {
    cache->OnAdvance([this](storage::kv::Revision revision) { waiters->Advance(revision); });
    cache->Reset({}, 10);
  }
  ~Waiting() {
    waiters->Stop();
    pool->Stop();
  }
  void Add(storage::kv::Revision revision) {
    waiters->Add(revision, [this, revision](const Status& status) {
      told.Lock()->push_back(std::to_string(revision) + " " +
                             (status.ok() ? "seen" : std::string(status.message())));
      told.NotifyAll();
    });
  }
  bool Told(std::vector<std::string> expected) {
    auto locked = told.Lock();
    return locked.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                            [&] { return *locked == expected; });
  }

  std::unique_ptr<ThreadPool> pool = NewThreadPool({"fresh", 2});
  std::shared_ptr<Cache> cache =
      std::make_shared<Cache>(storage::store::Options{.kind = testing::NewWidgetKind()},
                              Cache::Limits{.changes_max = 1000, .history = nullptr}, RealClock());
  Guarded<std::vector<std::string>> told;
  std::atomic<int> asked{0};
  std::shared_ptr<FreshWaiters> waiters =
      std::make_shared<FreshWaiters>(cache, pool.get(), [this] { ++asked; });
};

}  // namespace

TEST_CASE("storage.cacher: who waits for a revision is told when it has been seen",
          "[storage.cacher]") {
  Waiting waiting;
  waiting.Add(10);
  CHECK(waiting.Told({"10 seen"}));
  waiting.Add(12);
  waiting.Add(11);
  waiting.Add(13);
  CHECK(waiting.Told({"10 seen"}));
  waiting.cache->Apply({}, 12);
  CHECK(waiting.Told({"10 seen", "11 seen", "12 seen"}));
  waiting.cache->Apply({}, 20);
  CHECK(waiting.Told({"10 seen", "11 seen", "12 seen", "13 seen"}));
}

TEST_CASE("storage.cacher: who waits in vain has the engine asked and is told",
          "[storage.cacher]") {
  Waiting waiting;
  waiting.Add(11);
  CHECK(waiting.Told({"11 the watch cache is behind"}));
  CHECK(waiting.asked > 1);
  // And so is who comes after that.
  waiting.Add(12);
  CHECK(waiting.Told({"11 the watch cache is behind", "12 the watch cache is behind"}));
}

TEST_CASE("storage.cacher: whoever still waits is told of the end", "[storage.cacher]") {
  Waiting waiting;
  waiting.Add(11);
  waiting.waiters->Stop();
  CHECK(waiting.Told({"11 the watch cache is stopped"}));
  const int asked = waiting.asked;
  waiting.Add(12);
  CHECK(waiting.Told({"11 the watch cache is stopped", "12 the watch cache is stopped"}));
  CHECK(waiting.asked == asked);
}

TEST_CASE("storage.cacher: the engine is asked at once for each who comes to wait",
          "[storage.cacher]") {
  testing::ManualExecutor executor;  // Runs no timer.
  const auto cache =
      std::make_shared<Cache>(storage::store::Options{.kind = testing::NewWidgetKind()},
                              Cache::Limits{.changes_max = 1000, .history = nullptr}, RealClock());
  int asked = 0;
  const auto waiters = std::make_shared<FreshWaiters>(cache, &executor, [&asked] { ++asked; });
  cache->OnAdvance([&](storage::kv::Revision revision) { waiters->Advance(revision); });
  int seen = 0;
  for (int revision = 1; revision <= 3; ++revision) {
    waiters->Add(revision, [&seen](const Status& status) { seen += status.ok() ? 1 : 0; });
    CHECK(asked == revision);
    CHECK(seen == revision - 1);
    cache->Apply({}, revision);
    CHECK(seen == revision);
  }
  CHECK(executor.timers() == 1);
  waiters->Stop();
}

TEST_CASE("storage.cacher: waiters and revisions that race miss nobody", "[storage.cacher]") {
  Waiting waiting;
  constexpr int kRevisions = 2000;
  {
    Thread feed("feed", [&] {
      for (int i = 0; i < kRevisions; ++i) waiting.cache->Apply({}, 11 + i);
    });
    for (int i = 0; i < kRevisions; ++i) waiting.Add(11 + i);
  }
  auto told = waiting.told.Lock();
  CHECK(told.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                       [&] { return told->size() == kRevisions; }));
  CHECK(std::all_of(told->begin(), told->end(),
                    [](const std::string& text) { return text.ends_with(" seen"); }));
}

TEST_CASE("storage.cacher: a consistent read of a far engine can be had without a thread",
          "[storage.cacher]") {
  Backend backend(Form::kFollowingCacher);
  REQUIRE(backend.List().ok());  // Once it is loaded.
  const Context loop = backend.ctx.WithMayBlock(false);
  for (int i = 0; i < 50; ++i) {
    const std::string name = "o" + std::to_string(i);
    const auto created = backend.Create(name);
    CHECK(backend.storage->Get(loop, Backend::KeyOf(name), {}).status().reason() ==
          Reason::kWouldBlock);
    Guarded<std::optional<Result<std::int64_t>>> fresh;
    backend.storage->WhenFresh(loop, [&](Result<std::int64_t> revision) {
      const auto told = fresh.Lock();
      *told = std::move(revision);
      fresh.NotifyAll();  // With the lock: `fresh` is gone once the value has been seen.
    });
    auto locked = fresh.Lock();
    REQUIRE(locked.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                             [&] { return locked->has_value(); }));
    REQUIRE((*locked)->ok());
    storage::GetOptions at;
    at.resource_version = std::to_string(***locked);
    const auto read = backend.storage->Get(loop, Backend::KeyOf(name), at);
    REQUIRE(read.ok());
    CHECK((*read)->resource_version() == created->resource_version());
  }
}

TEST_CASE("storage.cacher: where nothing is waited for nobody is told to wait",
          "[storage.cacher]") {
  Backend backend(Form::kObservingCacher);
  Status told;
  backend.storage->WhenFresh(
      backend.ctx, [&](const Result<std::int64_t>& revision) { told = revision.status(); });
  CHECK(told.reason() == Reason::kWouldBlock);
}
