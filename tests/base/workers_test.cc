#include "base/workers.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

namespace apiserver::inline v0 {
namespace {

TEST_CASE("base: a pool whose tasks do not wait any more is not looked at", "[base]") {
  const int event = ::eventfd(0, EFD_SEMAPHORE);
  std::atomic<int> looks{0};
  std::atomic<int> ended{0};
  {
    Workers workers({.threads = 2}, {.run = [](Workers::Task task) { task(); },
                                     .look_soon = [&looks] { ++looks; }});
    for (int i = 0; i < 2; ++i) {
      workers.Post([&] {
        eventfd_t value = 0;
        (void)::eventfd_read(event, &value);
        ++ended;
      });
    }
    CHECK(looks == 0);
    workers.Post([&ended] { ++ended; });
    CHECK(looks > 0);
    while (ended == 0) {
      (void)workers.LookAround();
      std::this_thread::yield();
    }
    (void)::eventfd_write(event, 2);
    while (ended < 3) std::this_thread::yield();

    while (workers.LookAround()) std::this_thread::yield();
    // The threads may still be on their way to idleness.
    for (int tasks = 3; looks != 0 && tasks < 10'000; ++tasks) {
      looks = 0;
      workers.Post([&ended] { ++ended; });
      while (ended <= tasks) std::this_thread::yield();
    }
    CHECK(looks == 0);
  }
  ::close(event);
}

TEST_CASE("base: a task in a BlockingScope leaves its place without a look around", "[base]") {
  const int event = ::eventfd(0, EFD_SEMAPHORE);
  std::atomic<int> ended{0};
  {
    Workers workers({.threads = 1},
                    {.run = [](Workers::Task task) { task(); }, .look_soon = [] {}});
    workers.Post([&] {
      const BlockingScope blocking;
      eventfd_t value = 0;
      (void)::eventfd_read(event, &value);
      ++ended;
    });
    workers.Post([&] {
      (void)::eventfd_write(event, 1);
      ++ended;
    });
    while (ended < 2) std::this_thread::yield();
    CHECK(workers.threads() == 2);
  }
  ::close(event);
}

}  // namespace
}  // namespace apiserver::inline v0
