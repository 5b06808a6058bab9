#include "apiserver/base/context.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "base/manual.h"

namespace apiserver::inline v0 {
namespace {

using std::chrono::seconds;

const Status kStop(Reason::kServiceUnavailable, "stop");

TEST_CASE("base: the background is never done", "[base]") {
  const Context background = Context::Background();

  background.Cancel(kStop);

  CHECK(background.Err().ok());
  CHECK(background.may_block());
  CHECK_FALSE(background.deadline().has_value());
}

TEST_CASE("base: cancelling ends the work and all work under it, but not its parent", "[base]") {
  const Context parent = Context::Child(Context::Background());
  const Context work = Context::Child(parent);
  const Context below = Context::Child(work);

  work.Cancel(kStop);

  CHECK(parent.Err().ok());
  CHECK(work.Err() == kStop);
  CHECK(below.Err() == kStop);
}

TEST_CASE("base: only the first Cancel counts", "[base]") {
  const Context work = Context::Child(Context::Background());

  work.Cancel(kStop);
  work.Cancel(Status(Reason::kTimeout, "late"));

  CHECK(work.Err() == kStop);
}

TEST_CASE("base: cancelling without a reason still ends the work", "[base]") {
  const Context work = Context::Child(Context::Background());

  work.Cancel(Status());

  CHECK(work.Err() == Status(Reason::kTimeout, "context canceled"));
}

TEST_CASE("base: a deadline is moved forward only, for the work and what is begun under it later",
          "[base]") {
  testing::ManualClock clock;
  const Clock::Monotonic start = clock.Now();
  Context work = Context::Child(Context::Background());

  work.LimitTo(start + seconds(5));
  work.LimitTo(start + seconds(9));
  CHECK(work.deadline() == start + seconds(5));
  work.LimitTo(start + seconds(2));
  CHECK(work.deadline() == start + seconds(2));
  CHECK(Context::Child(work).deadline() == start + seconds(2));
  CHECK(work.Err(clock).ok());
  clock.Advance(seconds(2));
  CHECK(work.Err(clock).reason() == Reason::kTimeout);
}

TEST_CASE("base: work is timed out from its deadline on, by the clock that is asked", "[base]") {
  testing::ManualClock clock;
  const Context work = Context::Child(Context::Background(), clock.Now() + seconds(10));

  clock.Advance(seconds(10) - std::chrono::nanoseconds(1));
  CHECK(work.Err(clock).ok());
  clock.Advance(std::chrono::nanoseconds(1));
  CHECK(work.Err(clock) == Status(Reason::kTimeout, "context deadline exceeded"));
}

TEST_CASE("base: a child has the earlier deadline of its own and its parent's", "[base]") {
  const testing::ManualClock clock;
  const auto early = clock.Now() + seconds(1);
  const auto late = clock.Now() + seconds(2);
  const Context parent = Context::Child(Context::Background(), early);

  CHECK(Context::Child(parent, late).deadline() == early);
  CHECK(Context::Child(parent).deadline() == early);
  CHECK(Context::Child(Context::Child(Context::Background(), late), early).deadline() == early);
}

TEST_CASE("base: whether work may block is the handle's, and children inherit it", "[base]") {
  const Context work = Context::Child(Context::Background());

  const Context on_loop = work.WithMayBlock(false);

  CHECK(work.may_block());
  CHECK_FALSE(on_loop.may_block());
  CHECK_FALSE(Context::Child(on_loop).may_block());
  on_loop.Cancel(kStop);
  CHECK(work.Err() == kStop);
}

TEST_CASE("base: OnDone callbacks run once, in order, on the thread that cancels", "[base]") {
  const Context work = Context::Child(Context::Background());
  std::string order;
  const auto first = work.OnDone([&] { order += 'a'; });
  const auto second = work.OnDone([&] { order += 'b'; });

  work.Cancel(kStop);
  work.Cancel(kStop);

  CHECK(order == "ab");
}

TEST_CASE("base: OnDone of work that is done calls back at once", "[base]") {
  const Context parent = Context::Child(Context::Background());
  const Context child = Context::Child(parent);
  parent.Cancel(kStop);
  int calls = 0;

  const auto own = parent.OnDone([&] { ++calls; });
  const auto inherited = child.OnDone([&] { ++calls; });

  CHECK(calls == 2);
}

TEST_CASE("base: cancelling an ancestor calls back those who wait on a descendant", "[base]") {
  const Context top = Context::Child(Context::Background());
  const Context below = Context::Child(Context::Child(Context::Child(top)));
  Status seen;
  const auto waiting = below.OnDone([&] { seen = below.Err(); });

  top.Cancel(kStop);

  CHECK(seen == kStop);
}

TEST_CASE("base: a callback on work that nobody else holds hears of its parent's end", "[base]") {
  const Context parent = Context::Child(Context::Background());
  bool called = false;
  const auto waiting = Context::Child(parent).OnDone([&] { called = true; });

  parent.Cancel(kStop);

  CHECK(called);
}

TEST_CASE("base: a destroyed registration is not called", "[base]") {
  const Context work = Context::Child(Context::Background());
  auto held = std::make_shared<int>(0);
  {
    const auto waiting = work.OnDone([held] { ++*held; });
  }

  CHECK(held.use_count() == 1);
  work.Cancel(kStop);
  CHECK(*held == 0);
}

TEST_CASE("base: assigning to a registration removes the one it held", "[base]") {
  const Context work = Context::Child(Context::Background());
  std::string called;
  auto waiting = work.OnDone([&] { called += 'a'; });

  waiting = work.OnDone([&] { called += 'b'; });
  work.Cancel(kStop);

  CHECK(called == "b");
}

TEST_CASE("base: destroying a registration waits for a run in progress", "[base]") {
  const Context work = Context::Child(Context::Background());
  Notification entered;
  Notification removing;
  std::atomic<bool> finished{false};
  auto waiting = work.OnDone([&] {
    entered.Notify();
    removing.Wait();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    finished = true;
  });
  Thread canceller("canceller", [&] { work.Cancel(kStop); });
  entered.Wait();

  removing.Notify();
  waiting.Reset();

  CHECK(finished);
}

TEST_CASE("base: a callback may destroy its own registration", "[base]") {
  const Context work = Context::Child(Context::Background());
  Context::Registration waiting;
  int calls = 0;
  waiting = work.OnDone([&] {
    waiting.Reset();
    ++calls;
  });

  work.Cancel(kStop);

  CHECK(calls == 1);
}

TEST_CASE("base: a callback may drop the last handle of the work", "[base]") {
  const Context parent = Context::Child(Context::Background());
  auto work = std::make_unique<Context>(Context::Child(parent));
  auto waiting = work->OnDone([&] { work.reset(); });

  SECTION("when the work itself is cancelled") { work->Cancel(kStop); }
  SECTION("when its parent is cancelled") { parent.Cancel(kStop); }

  CHECK(work == nullptr);
}

TEST_CASE("base: children come and go while their parent is cancelled", "[base]") {
  std::atomic<int> called{0};
  for (int round = 0; round < 100; ++round) {
    const Context parent = Context::Child(Context::Background());
    Thread canceller("canceller", [&] { parent.Cancel(kStop); });
    for (int i = 0; i < 20; ++i) {
      const Context child = Context::Child(parent);
      const auto waiting = child.OnDone([&] { ++called; });
    }
    canceller.Join();
    const auto after = Context::Child(parent).OnDone([&] { ++called; });
  }

  CHECK(called >= 100);
}

TEST_CASE("base: values are found by type, in the work or above it", "[base]") {
  Context parent = Context::Child(Context::Background());
  parent.Set<std::string>("above");
  Context work = Context::Child(parent);
  work.Set<int>(3);

  CHECK(*work.Get<int>() == 3);
  CHECK(*work.Get<std::string>() == "above");
  CHECK(parent.Get<int>() == nullptr);
  CHECK(work.Get<long>() == nullptr);
}

TEST_CASE("base: setting a value again replaces it for every handle of the work", "[base]") {
  Context work = Context::Child(Context::Background());
  const Context copy = work;
  work.Set<int>(1);

  int& now = work.Set<int>(2);
  ++now;

  CHECK(*copy.Get<int>() == 3);
  ++*work.Mutable<int>();
  CHECK(*copy.Get<int>() == 4);
}

TEST_CASE("base: a value in a child hides the parent's", "[base]") {
  Context parent = Context::Child(Context::Background());
  parent.Set<int>(1);
  Context work = Context::Child(parent);

  work.Set<int>(2);

  CHECK(*work.Get<int>() == 2);
  CHECK(*parent.Get<int>() == 1);
}

TEST_CASE("base: values die with the last handle of the work", "[base]") {
  auto held = std::make_shared<int>(0);
  auto work = std::make_unique<Context>(Context::Child(Context::Background()));
  work->Set(held);
  REQUIRE(held.use_count() == 2);

  work.reset();

  CHECK(held.use_count() == 1);
}

TEST_CASE("base: a value set on the background is that handle's alone", "[base]") {
  Context mine = Context::Background();

  mine.Set<int>(1);

  CHECK(*mine.Get<int>() == 1);
  CHECK(Context::Background().Get<int>() == nullptr);
}

// More types than a context has places for: some share one.
template <std::size_t number>
struct Numbered {
  std::size_t value = number;
};

template <std::size_t... numbers>
void SetAll(Context& work, std::index_sequence<numbers...>) {
  (work.Set(Numbered<numbers>()), ...);
}
template <std::size_t... numbers>
std::size_t Found(const Context& work, std::index_sequence<numbers...>) {
  const auto has = [](const auto* value, std::size_t wanted) {
    return value != nullptr && value->value == wanted;
  };
  return (std::size_t{has(work.Get<Numbered<numbers>>(), numbers)} + ...);
}

TEST_CASE("base: each of a hundred values is found", "[base]") {
  constexpr auto kNumbers = std::make_index_sequence<100>();
  Context parent = Context::Child(Context::Background());
  SetAll(parent, kNumbers);
  Context work = Context::Child(parent);

  CHECK(work.Get<Numbered<100>>() == nullptr);
  CHECK(Found(work, kNumbers) == 100);
  SetAll(work, kNumbers);
  CHECK(Found(work, kNumbers) == 100);
  work.Set(Numbered<7>{.value = 8});
  CHECK(work.Get<Numbered<7>>()->value == 8);
  CHECK(parent.Get<Numbered<7>>()->value == 7);
  CHECK(Found(work, kNumbers) == 99);
}

// Returns how far the addresses of two values are apart.
std::size_t Apart(const void* a, const void* b) {
  const auto from = reinterpret_cast<std::uintptr_t>(a);
  const auto to = reinterpret_cast<std::uintptr_t>(b);
  return from < to ? to - from : from - to;
}

TEST_CASE("base: 700 bytes of values need no memory beside the context's own", "[base]") {
  Context ctx = Context::Child(Context::Background());

  const auto& first = ctx.Set('a');
  const auto& rest = ctx.Set(std::array<char, 700>{});
  const auto& beyond = ctx.Set(1);

  CHECK(Apart(&first, &rest) < 40);
  CHECK(Apart(&rest, &beyond) <= 740);
}

TEST_CASE("base: values of any size and alignment are kept and found", "[base]") {
  struct alignas(64) Wide {
    int value;
  };
  struct Large {
    std::array<char, 100'000> bytes;
  };
  Context ctx = Context::Child(Context::Background());
  ctx.Set('a');
  ctx.Set(std::array<char, 760>{'b'});
  Large large{};
  large.bytes.back() = 'c';
  ctx.Set(std::move(large));
  const auto& wide = ctx.Set(Wide{7});
  ctx.Set(8);

  CHECK(*ctx.Get<char>() == 'a');
  CHECK(ctx.Get<std::array<char, 760>>()->front() == 'b');
  CHECK(ctx.Get<Large>()->bytes.back() == 'c');
  CHECK(ctx.Get<Wide>()->value == 7);
  CHECK(reinterpret_cast<std::uintptr_t>(&wide) % alignof(Wide) == 0);
  CHECK(*ctx.Get<int>() == 8);
}

}  // namespace
}  // namespace apiserver::inline v0
