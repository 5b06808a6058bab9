// Tests of the reports that the engine makes of its long jobs: base/progress.h.
#include "apiserver/base/progress.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/storage/rocks/engine.h"
#include "storage/rocks/temp_directory.h"

namespace apiserver::inline v0::storage::rocks {
namespace {

// A clock that goes on by a tenth of a second whenever it is looked at, so that no update of a job
// is too early for a report.
class EagerClock final : public Clock {
 public:
  Monotonic Now() const override {
    if (!held_.exchange(false)) ++looks_;
    return Monotonic(std::chrono::milliseconds(100) * looks_.load());
  }
  Wall WallNow() const override { return RealClock().WallNow(); }
  // Stands still at the next look.
  void Hold() { held_ = true; }

 private:
  mutable std::atomic<int> looks_ = 0;
  mutable std::atomic<bool> held_ = false;
};

// Keeps the reports of the jobs of one kind.
class JobReports final : public ProgressSink {
 public:
  explicit JobReports(std::string what) : what_(std::move(what)) {}
  void Report(const Progress& progress) override {
    clock.Hold();  // This takes no time.
    if (progress.what != what_) return;
    all_.Lock()->push_back(progress);
    all_.NotifyAll();
  }
  // Waits for the end of a job and returns its reports.
  std::vector<Progress> Await() {
    auto all = all_.Lock();
    all.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                  [&all] { return !all->empty() && all->back().finished; });
    return *all;
  }

  EagerClock clock;

 private:
  const std::string what_;
  Guarded<std::vector<Progress>> all_;
};

Options ReportedStore(const TempDirectory& directory, std::shared_ptr<ProgressSink> progress,
                      const Clock& clock) {
  return {.path = directory.path(),
          .clock = clock,
          .progress = std::move(progress),
          .history = {.window = {}, .events_max = 0, .bytes_max = 0}};
}

// Creates keys, all at once so that they take few syncs.
void CreateKeys(kv::Engine& engine, int count) {
  Guarded<int> created;
  for (int i = 0; i < count; ++i) {
    kv::TxnRequest request;
    request.key = "/key/" + std::to_string(i);
    request.value = std::make_shared<const std::string>("value");
    engine.TxnAsync(Context::Background(), std::move(request), [&created](const auto& response) {
      if (!response.ok()) return;
      ++*created.Lock();
      created.NotifyAll();
    });
  }
  auto locked = created.Lock();
  REQUIRE(locked.WaitUntil(RealClock().Now() + std::chrono::seconds(60),
                           [&] { return *locked == count; }));
}

TEST_CASE("storage.rocks: an opening tells the versions that it reads, and invents no total",
          "[storage.rocks]") {
  TempDirectory directory;
  CreateKeys(*Open(ReportedStore(directory, nullptr, RealClock())).value(), 2500);
  const auto reports = std::make_shared<JobReports>("opening");

  REQUIRE(Open(ReportedStore(directory, reports, reports->clock)).ok());

  std::vector<std::string> texts;
  for (const Progress& each : reports->Await()) {
    CHECK(each.total == 0);
    texts.push_back(each.ToString());
  }
  const std::string title = "opening of " + directory.path();
  CHECK(texts == std::vector<std::string>{title, title + ": 1024 versions",
                                          title + ": 2048 versions", title + ": 2500 versions",
                                          title + ": 2500 versions"});
}

TEST_CASE("storage.rocks: an opening that fails ends with the reason", "[storage.rocks]") {
  TempDirectory directory;
  const auto engine = Open(ReportedStore(directory, nullptr, RealClock())).value();
  const auto reports = std::make_shared<JobReports>("opening");

  const Status refused = Open(ReportedStore(directory, reports, RealClock())).status();

  const std::vector<Progress> all = reports->Await();
  REQUIRE(all.size() == 2);
  CHECK_FALSE(all[0].finished);
  CHECK(all[1].failure == refused);
}

TEST_CASE("storage.rocks: a compaction tells how many changes are still on disk",
          "[storage.rocks]") {
  TempDirectory directory;
  const auto reports = std::make_shared<JobReports>("compaction");
  const auto engine = Open(ReportedStore(directory, reports, reports->clock)).value();
  CreateKeys(*engine, 1201);

  REQUIRE(engine->Compact(Context::Background(), 1202).ok());

  const std::vector<Progress> all = reports->Await();
  REQUIRE(all.size() >= 3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(all[i].total == 1200);
    CHECK(all[i].routine);
    if (i > 0) CHECK(all[i].done >= all[i - 1].done);
    CHECK(all[i].finished == (i + 1 == all.size()));
  }
  CHECK(all.front().done < 600);
  CHECK(all.back().ToString() == "compaction of " + directory.path() + ": 1200 of 1200 changes");
  CHECK(all.back().failure.ok());
}

}  // namespace
}  // namespace apiserver::inline v0::storage::rocks
