#include "apiserver/base/sync.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <array>
#include <catch2/catch.hpp>

namespace apiserver::inline v0 {
namespace {

TEST_CASE("base: a Guarded value waits for a change", "[base]") {
  Guarded<int> value(0);
  Thread writer("writer", [&] {
    *value.Lock() = 5;
    value.NotifyAll();
  });

  auto locked = value.Lock();
  locked.Wait([&] { return *locked == 5; });

  CHECK(*locked == 5);
}

TEST_CASE("base: a notification happens once and stays", "[base]") {
  Notification done;
  CHECK_FALSE(done.HasBeenNotified());
  CHECK_FALSE(done.WaitFor(std::chrono::milliseconds(0)));

  done.Notify();

  CHECK(done.HasBeenNotified());
  CHECK(done.WaitFor(std::chrono::milliseconds(0)));
  done.Wait();
}

TEST_CASE("base: a thread runs under SCHED_BATCH, which interrupts nobody by waking", "[base]") {
  REQUIRE(sched_getscheduler(0) == SCHED_OTHER);
  int ours = -1;
  int its_child = -1;

  Thread("batch", [&] {
    ours = sched_getscheduler(0);
    Thread("child", [&] { its_child = sched_getscheduler(0); }).Join();
  }).Join();

  CHECK(ours == SCHED_BATCH);
  CHECK(its_child == SCHED_BATCH);
  CHECK(sched_getscheduler(0) == SCHED_OTHER);
}

TEST_CASE("base: a thread bears its name, cut to what Linux shows", "[base]") {
  std::array<char, 16> name{};

  Thread("a-name-far-too-long", [&] {
    pthread_getname_np(pthread_self(), name.data(), name.size());
  }).Join();

  CHECK(std::string(name.data()) == "a-name-far-too-");
}

TEST_CASE("base: a thread leaves the process' signals to the host's threads", "[base]") {
  sigset_t blocked;

  Thread("signals", [&] { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); }).Join();

  CHECK(sigismember(&blocked, SIGTERM) == 1);
  CHECK(sigismember(&blocked, SIGSEGV) == 0);
  sigset_t mine;
  pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  CHECK(sigismember(&mine, SIGTERM) == 0);
}

TEST_CASE("base: joining a thread destroys what its body owned", "[base]") {
  auto held = std::make_shared<int>(0);
  Thread thread("owner", [held] {});

  thread.Join();

  CHECK(held.use_count() == 1);
  CHECK_FALSE(thread.joinable());
}

// Counts what a thread tells of its waits.
class CountingListener final : public WaitListener {
 public:
  CountingListener() { OfThisThread() = this; }
  ~CountingListener() { OfThisThread() = nullptr; }
  CountingListener(const CountingListener&) = delete;
  CountingListener& operator=(const CountingListener&) = delete;

  void BeginWait() override { ++begun; }
  void EndWait() override { ++ended; }

  int begun = 0;
  int ended = 0;
};

TEST_CASE("base: a thread tells its listener that it waits, once for each wait", "[base]") {
  CountingListener listener;
  Guarded<bool> there(false);

  there.Lock().Wait([] { return true; });
  CHECK(listener.begun == 0);
  CHECK_FALSE(there.Lock().WaitUntil(std::chrono::steady_clock::now(), [] { return false; }));
  CHECK(listener.begun == 1);
  CHECK(listener.ended == 1);

  {
    const BlockingScope outer;
    CHECK(listener.begun == 2);
    CHECK(listener.ended == 1);
    const BlockingScope inner;
    CHECK_FALSE(Notification().WaitFor(std::chrono::milliseconds(0)));
    CHECK(listener.begun == 2);
  }
  CHECK(listener.ended == 2);

  Thread("other", [] { const BlockingScope of_a_thread_without_listener; }).Join();
  CHECK(listener.begun == 2);
}

}  // namespace
}  // namespace apiserver::inline v0
