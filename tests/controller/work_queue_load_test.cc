// Many threads on one queue: no key is lost, and none is worked on twice at a time.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"
#include "apiserver/controller/work_queue.h"

namespace controller_test {
namespace {

using namespace apiserver;
using controller::NewRateLimiter;
using controller::NewWorkQueue;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kKeys = 10'000;
constexpr int kWorkers = 8;
constexpr int kWriters = 4;
constexpr int kChangesEach = 20'000;

// The state of an object, of which a worker should have seen the last.
struct Subject {
  std::atomic<int> state{0};
  std::atomic<int> seen{0};
  std::atomic<bool> worked_on{false};
};

struct Load {
  void Write(std::uint64_t seed);
  void Work(std::uint64_t seed);

  std::unique_ptr<controller::WorkQueue> queue =
      NewWorkQueue({.rate_limiter = NewRateLimiter(
                        {.base = microseconds(50), .max = milliseconds(2), .per_second = 0})});
  std::vector<Subject> subjects = std::vector<Subject>(kKeys);
  std::atomic<int> doubled{0};
  std::atomic<int> failures{0};
  std::atomic<int> turns{0};
};

void Load::Write(std::uint64_t seed) {
  const auto random = NewSeededRandom(seed);
  for (int i = 0; i < kChangesEach; ++i) {
    const auto at = random->Below(kKeys);
    ++subjects[at].state;
    controller::NamespacedName key{"ns-" + std::to_string(at % 7), std::to_string(at)};
    if (random->Below(10) == 0) {
      queue->AddAfter(std::move(key), microseconds(random->Below(3000)));
    } else {
      queue->Add(std::move(key));
    }
  }
}

// A turn in five fails, and is tried again.
void Load::Work(std::uint64_t seed) {
  const auto random = NewSeededRandom(seed);
  while (const auto key = queue->Get()) {
    Subject& subject = subjects[static_cast<std::size_t>(std::stoi(key->name))];
    if (subject.worked_on.exchange(true)) ++doubled;
    ++turns;
    if (random->Below(5) == 0) {
      ++failures;
      queue->AddRateLimited(*key);
    } else {
      subject.seen = subject.state.load();
      queue->Forget(*key);
    }
    subject.worked_on = false;
    queue->Done(*key);
  }
}

TEST_CASE("controller: of 10,000 keys none is lost or worked on twice at a time", "[controller]") {
  Load load;
  std::vector<Thread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back("worker", [&load, i] { load.Work(100 + static_cast<std::uint64_t>(i)); });
  }
  std::vector<Thread> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back("writer", [&load, i] { load.Write(static_cast<std::uint64_t>(i)); });
  }
  for (Thread& writer : writers) writer.Join();
  // Keys with a delay come within milliseconds; a lost one never would.
  const auto until = RealClock().Now() + std::chrono::seconds(60);
  const auto settled = [&load] {
    for (const Subject& subject : load.subjects) {
      if (subject.seen != subject.state) return false;
    }
    return true;
  };
  while (!settled() && RealClock().Now() < until) Notification().WaitFor(milliseconds(5));
  CHECK(settled());

  load.queue->ShutDownWithDrain();
  for (Thread& worker : workers) worker.Join();
  CHECK(load.doubled == 0);
  CHECK(load.failures > 0);
  CHECK(load.turns > kKeys);
  CHECK(load.queue->size() == 0);
}

}  // namespace
}  // namespace controller_test
