#include "apiserver/auth/look_up.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "auth/cached_look_ups.h"

namespace apiserver::inline v0::auth {
namespace {

using std::chrono::seconds;

class HandClock final : public Clock {
 public:
  Monotonic Now() const override { return now; }
  Wall WallNow() const override { return {}; }
  Monotonic now{};
};

// Whoever is asked, and answers when the test says so.
struct Oracle {
  CachedLookUps<int>::Ask Ask() {
    return [this](CachedLookUps<int>::Done done) { questions.push_back(std::move(done)); };
  }
  std::vector<CachedLookUps<int>::Done> questions;
};

struct Fixture {
  HandClock clock;
  Oracle oracle;
  CachedLookUps<int> cache{{.entries_max = 2, .clock = &clock, .lifetime = [](const auto& answer) {
                              return answer.ok() ? seconds(10) : seconds(0);
                            }}};
  // As of a request on a loop.
  Context Loop() {
    Context ctx = Context::Child(Context::Background()).WithMayBlock(false);
    ctx.Set(std::make_shared<Waiting>());
    return ctx;
  }
  static Waiting& WaitingOf(const Context& ctx) { return **ctx.Get<WaitingPtr>(); }
};

}  // namespace

TEST_CASE("auth: on a loop a look-up is waited for without a thread", "[auth]") {
  Fixture f;
  const Context ctx = f.Loop();
  CHECK(f.cache.Get(ctx, "k", f.oracle.Ask()).status().reason() == Reason::kWouldBlock);
  CHECK(Fixture::WaitingOf(ctx).pending());
  int called = 0;
  Fixture::WaitingOf(ctx).OnAll([&] { ++called; });
  CHECK(called == 0);

  f.oracle.questions.at(0)(7);

  CHECK(called == 1);
  CHECK_FALSE(Fixture::WaitingOf(ctx).pending());
  CHECK(*f.cache.Get(ctx, "k", f.oracle.Ask()) == 7);
  CHECK(f.oracle.questions.size() == 1);
}

TEST_CASE("auth: an answer that is not kept is still given to those who waited", "[auth]") {
  Fixture f;
  const Context ctx = f.Loop();
  CHECK_FALSE(f.cache.Get(ctx, "k", f.oracle.Ask()).ok());

  f.oracle.questions.at(0)(Status(Reason::kInternalError, "broken"));

  CHECK(f.cache.Get(ctx, "k", f.oracle.Ask()).status().message() == "broken");
  CHECK(f.oracle.questions.size() == 1);
  // Another request asks again.
  CHECK(f.cache.Get(f.Loop(), "k", f.oracle.Ask()).status().reason() == Reason::kWouldBlock);
  CHECK(f.oracle.questions.size() == 2);
}

// It once was, and asked again if its answer came before the request could wait for it.
// A request that has several questions runs again for each of them.
TEST_CASE("auth: an answer that comes while it is asked for is not asked for again", "[auth]") {
  Fixture f;
  const Context ctx = f.Loop();
  int asked = 0;
  const auto at_once = [&asked](CachedLookUps<int>::Done done) {
    ++asked;
    done(Status(Reason::kForbidden, "no"));  // Not kept.
  };

  CHECK(f.cache.Get(ctx, "k", at_once).status().reason() == Reason::kForbidden);
  CHECK(f.cache.Get(ctx, "k", at_once).status().reason() == Reason::kForbidden);

  CHECK(asked == 1);
}

TEST_CASE("auth: nothing is asked where there is nowhere to keep the question", "[auth]") {
  Fixture f;
  const Context ctx = Context::Child(Context::Background()).WithMayBlock(false);

  CHECK(f.cache.Get(ctx, "k", f.oracle.Ask()).status().reason() == Reason::kWouldBlock);

  CHECK(f.oracle.questions.empty());
}

TEST_CASE("auth: those who ask the same share one look-up", "[auth]") {
  Fixture f;
  const Context a = f.Loop();
  const Context b = f.Loop();
  CHECK_FALSE(f.cache.Get(a, "k", f.oracle.Ask()).ok());
  CHECK_FALSE(f.cache.Get(b, "k", f.oracle.Ask()).ok());
  CHECK(f.oracle.questions.size() == 1);

  f.oracle.questions.at(0)(7);

  CHECK(*f.cache.Get(a, "k", f.oracle.Ask()) == 7);
  CHECK(*f.cache.Get(b, "k", f.oracle.Ask()) == 7);
}

TEST_CASE("auth: an answer is kept for its time, and the least recently used goes first",
          "[auth]") {
  Fixture f;
  const auto asks = [&f](const std::string& key) {
    const std::size_t before = f.oracle.questions.size();
    (void)f.cache.Get(f.Loop(), key, f.oracle.Ask());
    if (f.oracle.questions.size() == before) return false;
    f.oracle.questions.back()(1);
    return true;
  };
  CHECK(asks("a"));
  CHECK(asks("b"));
  CHECK_FALSE(asks("a"));
  CHECK(asks("c"));  // Drops b.
  CHECK_FALSE(asks("a"));
  CHECK(asks("b"));
  f.clock.now += seconds(10);
  CHECK(asks("a"));
}

TEST_CASE("auth: where waiting is allowed a look-up ends with its request", "[auth]") {
  Fixture f;
  const Context ctx = Context::Child(Context::Background());
  ctx.Cancel(Status(Reason::kTimeout, "gone"));
  CHECK(f.cache.Get(ctx, "k", f.oracle.Ask()).status().reason() == Reason::kTimeout);
  f.oracle.questions.at(0)(7);
  CHECK(*f.cache.Get(Context::Background(), "k", f.oracle.Ask()) == 7);
}

}  // namespace apiserver::inline v0::auth
