#include "base/spares.h"

#include <catch2/catch.hpp>
#include <utility>

namespace apiserver::inline v0 {
namespace {

struct Worn {
  void Reset() { content = 0; }
  int content = 0;
};

}  // namespace

TEST_CASE("base: a spare object comes back reset and is lent again", "[base]") {
  const Spares<Worn> spares;
  const Worn* first = nullptr;
  {
    auto lent = spares.Take();
    lent->content = 7;
    auto moved = std::move(lent);
    first = &*moved;
    const auto other = spares.Take();
    CHECK(&*other != first);
  }
  const auto again = spares.Take();
  CHECK(&*again == first);
  CHECK(again->content == 0);
}

TEST_CASE("base: only so many spare objects are kept", "[base]") {
  struct Counted {
    explicit Counted(int& alive) : alive_(&alive) { ++*alive_; }
    ~Counted() { --*alive_; }
    int* alive_;
  };
  static int alive = 0;
  struct Made : Counted {
    Made() : Counted(alive) {}
  };
  const Spares<Made> spares(1);
  {
    const auto first = spares.Take();
    const auto second = spares.Take();
    CHECK(alive == 2);
  }
  CHECK(alive == 1);
}

}  // namespace apiserver::inline v0
