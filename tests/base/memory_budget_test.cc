#include "apiserver/base/memory_budget.h"

#include <array>
#include <catch2/catch.hpp>
#include <deque>
#include <vector>

namespace apiserver::inline v0 {
namespace {

TEST_CASE("base: a share counts what is added and given back, also beyond its limit", "[base]") {
  MemoryShare share(100);
  share.Add(100);
  CHECK_FALSE(share.over());
  share.Add(1);
  CHECK(share.over());
  share.Release(51);
  CHECK(share.used() == 50);
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
