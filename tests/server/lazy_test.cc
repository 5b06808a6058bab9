// Values that are made when they are asked for.
#include <catch2/catch.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/base/sync.h"
#include "server/lazy.h"

namespace apiserver::inline v0::server {
namespace {

using Texts = Lazy<std::string>;

// Makes "1", "2", … of the version that is the latest, each when it is let.
struct Maker {
  Texts::Made Make() {
    auto state = state_.Lock();
    state.Wait([&state] { return state->permits > 0; });
    --state->permits;
    ++state->made;
    return {std::make_shared<const std::string>(std::to_string(state->made)), state->latest};
  }
  void Let(int times) {
    state_.Lock()->permits += times;
    state_.NotifyAll();
  }
  void SetLatest(std::uint64_t version) { state_.Lock()->latest = version; }
  int made() const { return state_.Lock()->made; }

 private:
  struct State {
    int permits = 0;
    int made = 0;
    std::uint64_t latest = 1;
  };
  Guarded<State> state_;
};

TEST_CASE("server: a value is made once for all who ask for its version", "[server]") {
  Maker maker;
  Guarded<std::vector<std::string>> got;  // Outlives the threads of the pool, which notify it.
  const auto pool = NewThreadPool({.name = "lazy", .threads = 8});
  const auto texts = std::make_shared<Texts>(*pool, [&maker] { return maker.Make(); });
  CHECK(texts->Find(1) == nullptr);
  for (int i = 0; i < 8; ++i) {
    pool->Post([&] {
      const std::string text = *texts->Get(1);
      got.Lock()->push_back(text);
      got.NotifyAll();
    });
  }
  maker.Let(8);
  auto all = got.Lock();
  all.Wait([&all] { return all->size() == 8; });
  CHECK(*all == std::vector<std::string>(8, "1"));
  CHECK(maker.made() == 1);
  CHECK(*texts->Find(1) == "1");
}

TEST_CASE("server: a value is made anew for a later version, and the old one is not shown",
          "[server]") {
  Maker maker;
  maker.Let(100);
  const auto pool = NewThreadPool({.name = "lazy", .threads = 1});
  const auto texts = std::make_shared<Texts>(*pool, [&maker] { return maker.Make(); });
  CHECK(*texts->Get(1) == "1");
  maker.SetLatest(5);
  CHECK(*texts->Get(1) == "1");
  CHECK(texts->Find(2) == nullptr);
  CHECK(*texts->Get(2) == "2");
  CHECK(*texts->Get(5) == "2");
  CHECK(texts->Find(6) == nullptr);
  CHECK(maker.made() == 2);
}

TEST_CASE("server: a value that cannot be made is no value, and is tried again", "[server]") {
  std::atomic<int> tried{0};
  const auto pool = NewThreadPool({.name = "lazy", .threads = 1});
  const auto texts = std::make_shared<Texts>(*pool, [&tried]() -> Texts::Made {
    if (++tried == 1) throw std::bad_alloc();
    return {std::make_shared<const std::string>("made"), 1};
  });
  CHECK(texts->Get(1) == nullptr);
  CHECK(*texts->Get(1) == "made");
  CHECK(tried == 2);
}

}  // namespace
}  // namespace apiserver::inline v0::server
