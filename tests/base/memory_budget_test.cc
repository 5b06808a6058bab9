#include "apiserver/base/memory_budget.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <deque>
#include <vector>

namespace apiserver::inline v0 {
namespace {

TEST_CASE("base: a share lets in while there is room, and nothing is too large for it when empty",
          "[base]") {
  MemoryShare share(100);
  CHECK(share.TryAdd(1000));
  CHECK(share.over());
  CHECK_FALSE(share.TryAdd(1));
  share.Release(1000);
  CHECK(share.TryAdd(99));
  CHECK(share.TryAdd(1));
  CHECK_FALSE(share.over());
  CHECK_FALSE(share.TryAdd(1));
  CHECK(share.used() == 100);
}

TEST_CASE("base: a charge grows only if there is room, always shrinks, and ends with its owner",
          "[base]") {
  MemoryShare share(100);
  {
    MemoryCharge first(share);
    MemoryCharge second(share);
    CHECK(first.TryResize(60));
    CHECK(second.TryResize(80));
    CHECK(second.TryResize(100));
    CHECK(share.used() == 160);
    CHECK_FALSE(first.TryResize(61));
    CHECK(first.bytes() == 60);
    CHECK(second.TryResize(100));
    CHECK(second.TryResize(10));
    CHECK(share.used() == 70);
    first.Resize(500);
    CHECK(share.used() == 510);
  }
  CHECK(share.used() == 0);
}

TEST_CASE("base: threads that ask for the last room do not both get it", "[base]") {
  MemoryShare share(1000);
  std::atomic<int> let_in = 0;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back("asker", [&] {
        for (int n = 0; n < 1000; ++n) {
          if (share.TryAdd(1)) ++let_in;
        }
      });
    }
  }
  CHECK(let_in == 1000);
  CHECK(share.used() == 1000);
}

struct Counted final : EvictingShare::Item {
  void Evict() override { kept = false; }
  bool kept = true;
};

TEST_CASE("base: an evicting share gives up what was not used for longest", "[base]") {
  EvictingShare share(30);
  std::array<Counted, 5> items;
  for (int i = 0; i < 3; ++i) share.Add(items[i], 10);
  CHECK(share.used() == 30);
  items[0].Touch();
  share.Add(items[3], 10);
  CHECK(items[0].kept);
  CHECK_FALSE(items[1].kept);
  // Passing it over has made it the newest; it is not touched any more.
  share.Add(items[4], 20);
  CHECK(items[0].kept);
  CHECK(items[4].kept);
  CHECK_FALSE(items[2].kept);
  CHECK_FALSE(items[3].kept);
  CHECK(share.used() == 30);
  for (Counted& item : items) share.Remove(item);
  CHECK(share.used() == 0);
}

TEST_CASE("base: what is larger than its whole share is given up at once", "[base]") {
  EvictingShare share(30);
  Counted small;
  Counted large;
  share.Add(small, 10);
  large.Touch();
  share.Add(large, 31);
  CHECK_FALSE(small.kept);
  CHECK_FALSE(large.kept);
  CHECK(share.used() == 0);
  // What was given up may come again.
  share.Add(small, 10);
  CHECK(share.used() == 10);
  share.Remove(small);
}

TEST_CASE("base: an evicting share goes on although everything is used all the time", "[base]") {
  EvictingShare share(1000);
  std::deque<Counted> items(2000);
  for (Counted& item : items) {
    share.Add(item, 1);
    for (Counted& each : items) each.Touch();
    REQUIRE(share.used() <= 1000);
  }
  for (Counted& item : items) share.Remove(item);
  CHECK(share.used() == 0);
}

TEST_CASE("base: threads add and remove while others' items are given up", "[base]") {
  EvictingShare share(100);
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back("user", [&] {
        for (int n = 0; n < 500; ++n) {
          std::array<Counted, 8> items;
          for (Counted& item : items) share.Add(item, 10);
          items[0].Touch();
          for (Counted& item : items) share.Remove(item);
        }
      });
    }
  }
  CHECK(share.used() == 0);
}

}  // namespace
}  // namespace apiserver::inline v0
