#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0 {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

// Waits until `count` things have happened.
class Latch {
 public:
  explicit Latch(int count) : left_(count) {}
  void CountDown() {
    auto left = left_.Lock();
    --*left;
    left_.NotifyAll();
  }
  void Wait() {
    auto left = left_.Lock();
    left.Wait([&] { return *left <= 0; });
  }

 private:
  Guarded<int> left_;
};

class RecordingSink final : public LogSink {
 public:
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel, std::string_view message, std::span<const LogField> fields) override {
    line = std::string(message);
    for (const LogField& field : fields) line += " " + field.value;
    written.Notify();
  }
  std::string line;
  Notification written;
};

TEST_CASE("base: a pool runs what is posted on its own threads", "[base]") {
  const auto pool = NewThreadPool({.threads = 2});
  CHECK(pool->may_block());
  CHECK_FALSE(pool->Inside());
  Notification ran;
  bool inside = false;

  pool->Post([&] {
    inside = pool->Inside();
    ran.Notify();
  });
  ran.Wait();

  CHECK(inside);
}

TEST_CASE("base: a pool starts its threads as work comes", "[base]") {
  Latch running(5);
  Notification go_on;  // Before the pool: a task may still look at it when the last one runs.
  const auto pool = NewThreadPool({.threads = 3, .threads_extra_max = 0});
  CHECK(pool->threads() == 0);
  for (int i = 0; i < 5; ++i) {
    pool->Post([&] {
      running.CountDown();
      go_on.Wait();
    });
  }
  while (pool->threads() < 3) std::this_thread::yield();
  go_on.Notify();
  running.Wait();
  CHECK(pool->threads() == 3);
}

TEST_CASE("base: a pool grows when its threads wait for what it has queued", "[base]") {
  constexpr int kWaiting = 20;
  const auto pool = NewThreadPool({.threads = 2});
  Latch finished(kWaiting);
  for (int i = 0; i < kWaiting; ++i) {
    pool->Post([&] {
      Notification inner;
      pool->Post([&] { inner.Notify(); });
      inner.Wait();
      finished.CountDown();
    });
  }

  finished.Wait();

  CHECK(pool->threads() > 2);
}

TEST_CASE("base: tasks that compute get about as many threads as there are CPUs", "[base]") {
  const std::size_t cpus = std::max(std::thread::hardware_concurrency(), 2U);
  const auto pool = NewThreadPool({.threads = 16 * cpus});
  const int tasks = 200 * static_cast<int>(cpus);
  Latch ran(tasks);
  for (int i = 0; i < tasks; ++i) {
    pool->Post([&] {
      const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(50);
      while (std::chrono::steady_clock::now() < until) {
      }
      ran.CountDown();
    });
  }

  ran.Wait();

  // A machine that has other work may keep all of them from the CPUs, which lets another begin.
  CHECK(pool->threads() < 8 * cpus);
}

TEST_CASE("base: a task that waits leaves its place to another at once", "[base]") {
  constexpr int kWaiting = 50;
  Latch all(kWaiting);  // Before the pool: tasks may still look at it when the test has waited.
  const auto pool = NewThreadPool({.threads = 64});
  for (int i = 0; i < kWaiting; ++i) {
    pool->Post([&] {
      all.CountDown();
      all.Wait();
    });
  }

  all.Wait();

  CHECK(pool->threads() >= kWaiting);
}

TEST_CASE("base: a pool notices tasks that wait without telling it", "[base]") {
  constexpr std::uint64_t kWaiting = 50;
  const auto pool = NewThreadPool({.threads = 64});
  const int event = ::eventfd(0, EFD_SEMAPHORE);
  std::atomic<std::uint64_t> began{0};
  Latch finished(kWaiting);
  for (std::uint64_t i = 0; i < kWaiting; ++i) {
    pool->Post([&] {
      if (++began == kWaiting) (void)::eventfd_write(event, kWaiting);
      eventfd_t value = 0;
      (void)::eventfd_read(event, &value);
      finished.CountDown();
    });
  }

  finished.Wait();

  CHECK(pool->threads() >= kWaiting);
  ::close(event);
}

TEST_CASE("base: a task begins beside others that compute without an end", "[base]") {
  const std::size_t cpus = std::max(std::thread::hardware_concurrency(), 2U);
  std::atomic<bool> began{false};
  const auto pool = NewThreadPool({.threads = cpus + 2});
  for (std::size_t i = 0; i < cpus + 1; ++i) {
    pool->Post([&] {
      while (!began) {
      }
    });
  }

  pool->Post([&] { began = true; });

  while (!began) std::this_thread::yield();
  SUCCEED();
}

TEST_CASE("base: the thread of a pool that ran last is called first", "[base]") {
  Latch all(4);
  const auto pool = NewThreadPool({.threads = 4, .idle = hours(1)});
  for (int i = 0; i < 4; ++i) {
    pool->Post([&] {
      all.CountDown();
      all.Wait();
    });
  }
  all.Wait();
  std::thread::id last;
  // Returns how many of a hundred tasks ran on the thread of the one before.
  const auto stayed = [&] {
    int count = 0;
    for (int i = 0; i < 100; ++i) {
      Notification ran;
      pool->Post([&] {
        if (std::exchange(last, std::this_thread::get_id()) == std::this_thread::get_id()) ++count;
        ran.Notify();
      });
      ran.Wait();
      // Else the thread is still on its way to idleness when the next task comes.
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    return count;
  };

  // None would, if the one that has been idle for longest were called. A busy machine may keep a
  // thread from becoming idle in time.
  int most = 0;
  for (int round = 0; round < 20 && most < 50; ++round) most = std::max(most, stayed());
  CHECK(most >= 50);
}

TEST_CASE("base: a pool that may not grow keeps its number of threads", "[base]") {
  const auto pool = NewThreadPool({.threads = 1, .threads_extra_max = 0});
  Notification release;
  Notification timer;
  Latch ran(3);

  pool->Post([&] { release.Wait(); });
  for (int i = 0; i < 3; ++i) pool->Post([&] { ran.CountDown(); });
  CHECK_FALSE(timer.WaitFor(milliseconds(20)));  // Many times the pool's patience.

  CHECK(pool->threads() == 1);
  release.Notify();
  ran.Wait();
}

TEST_CASE("base: threads that stay idle end, all but one", "[base]") {
  // They may all find at a time that there are too many.
  for (int round = 0; round < 50; ++round) {
    Latch all(4);
    const std::size_t own = round % 2 == 0 ? 1 : 4;
    const auto pool = NewThreadPool({.threads = own, .idle = milliseconds(1)});
    for (int i = 0; i < 4; ++i) {
      pool->Post([&] {
        all.CountDown();
        all.Wait();
      });
    }
    all.Wait();

    while (pool->threads() > 1) std::this_thread::yield();
    REQUIRE(pool->threads() == 1);

    Notification again;
    pool->Post([&] { again.Notify(); });
    again.Wait();
    REQUIRE(pool->threads() >= 1);
  }
}

TEST_CASE("base: a pool outlives an exception that escapes a task, and reports it", "[base]") {
  RecordingSink log;
  const auto pool = NewThreadPool({.threads = 1, .threads_extra_max = 0, .log = &log});

  pool->Post([] { throw std::runtime_error("broken task"); });
  log.written.Wait();
  Notification after;
  pool->Post([&] { after.Notify(); });
  after.Wait();

  CHECK(log.line == "an exception escaped a task broken task");
}

TEST_CASE("base: a pool without a log drops what escapes a task", "[base]") {
  const auto pool = NewThreadPool({.threads = 1, .threads_extra_max = 0});
  Notification after;

  pool->Post([] { throw 1; });
  pool->Post([&] { after.Notify(); });
  after.Wait();

  CHECK(pool->threads() == 1);
}

TEST_CASE("base: stopping a pool waits for running work and destroys what is queued unrun",
          "[base]") {
  const auto pool = NewThreadPool({.threads = 1, .threads_extra_max = 0});
  Notification entered;
  Notification release;
  std::atomic<bool> finished{false};
  std::atomic<bool> queued_ran{false};
  auto queued = std::make_shared<int>(0);
  pool->Post([&] {
    entered.Notify();
    release.Wait();
    finished = true;
  });
  pool->Post([&, queued] { queued_ran = true; });
  const auto cancel = pool->PostAfter(hours(1), [queued] {});
  entered.Wait();
  REQUIRE(queued.use_count() == 3);

  Thread stopper("stopper", [&] { pool->Stop(); });
  while (queued.use_count() != 1) std::this_thread::yield();
  CHECK_FALSE(finished);
  release.Notify();
  stopper.Join();

  CHECK(finished);
  CHECK_FALSE(queued_ran);
  CHECK(pool->threads() == 0);
}

TEST_CASE("base: a stopped pool drops what is posted", "[base]") {
  const auto pool = NewThreadPool({.threads = 1});
  auto held = std::make_shared<int>(0);
  pool->Stop();
  pool->Stop();

  pool->Post([held] {});
  auto cancel = pool->PostAfter(milliseconds(0), [held] {});
  cancel();

  CHECK(held.use_count() == 1);
}

TEST_CASE("base: delayed tasks run in the order of their time", "[base][slow]") {
  const auto pool = NewThreadPool({.threads = 1, .threads_extra_max = 0});
  std::string order;
  Latch ran(3);
  const auto note = [&](char c) {
    return [&order, &ran, c] {
      order += c;
      ran.CountDown();
    };
  };

  // Far apart: a busy machine may keep this thread between two of them.
  const auto late = pool->PostAfter(milliseconds(3000), note('c'));
  const auto soon = pool->PostAfter(milliseconds(1), note('a'));
  const auto middle = pool->PostAfter(milliseconds(1500), note('b'));
  ran.Wait();

  CHECK(order == "abc");
}

TEST_CASE("base: a delayed task does not run before its time", "[base]") {
  const auto pool = NewThreadPool({.threads = 1});
  const auto begin = std::chrono::steady_clock::now();
  Notification ran;

  const auto cancel = pool->PostAfter(milliseconds(5), [&] { ran.Notify(); });
  ran.Wait();

  CHECK(std::chrono::steady_clock::now() - begin >= milliseconds(5));
}

TEST_CASE("base: cancelling a delayed task destroys it unrun, even while it is queued", "[base]") {
  const auto pool = NewThreadPool({.threads = 1, .threads_extra_max = 0});
  Notification release;
  auto held = std::make_shared<std::atomic<int>>(0);
  pool->Post([&] { release.Wait(); });
  auto far = pool->PostAfter(hours(1), [held] { ++*held; });
  auto due = pool->PostAfter(milliseconds(0), [held] { ++*held; });

  far();
  due();
  due();

  CHECK(held.use_count() == 1);
  release.Notify();
  Notification after;
  pool->Post([&] { after.Notify(); });
  after.Wait();
  CHECK(*held == 0);
}

TEST_CASE("base: a delayed task's Cancel is harmless after the run and after the pool", "[base]") {
  Executor::Cancel ran_already;
  Executor::Cancel never_ran;
  {
    const auto pool = NewThreadPool({.threads = 1});
    Notification ran;
    ran_already = pool->PostAfter(milliseconds(0), [&] { ran.Notify(); });
    never_ran = pool->PostAfter(hours(1), [] {});
    ran.Wait();
    ran_already();
  }

  ran_already();
  never_ran();
  SUCCEED();
}

TEST_CASE("base: many threads post to a pool and nothing is lost", "[base]") {
  const auto pool = NewThreadPool({.threads = 3});
  constexpr int kPerThread = 500;
  Latch ran(4 * kPerThread);
  {
    std::vector<Thread> posters;
    for (int i = 0; i < 4; ++i) {
      posters.emplace_back("poster", [&] {
        for (int n = 0; n < kPerThread; ++n) pool->Post([&] { ran.CountDown(); });
      });
    }
  }

  ran.Wait();
  SUCCEED();
}

}  // namespace
}  // namespace apiserver::inline v0
