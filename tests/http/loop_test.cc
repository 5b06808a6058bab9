#include "http/loop.h"

#include <sys/eventfd.h>

#include <catch2/catch.hpp>

#include "http/fd_watch.h"
#include "http/timers.h"
#include "support.h"

namespace http_test {
namespace {

struct CountingEntry final : Timers::Entry {
  void Fire() override { ++fired; }
  int fired = 0;
};

TEST_CASE("http: timers fire when due, never early, unless disarmed", "[http]") {
  Timers timers;
  const Clock::Monotonic start(std::chrono::hours(1));
  std::vector<CountingEntry> entries(200);
  for (int i = 0; i < 200; ++i) {
    timers.Arm(entries[static_cast<std::size_t>(i)], start,
               start + std::chrono::milliseconds(i * 50));
  }
  for (std::size_t i = 0; i < 200; i += 2) timers.Disarm(entries[i]);

  for (int now = 0; now <= 10'100; now += 10) {
    timers.RunDue(start + std::chrono::milliseconds(now));
    for (int i = 1; i < 200; i += 2) {
      const int fired = entries[static_cast<std::size_t>(i)].fired;
      if (now < i * 50) REQUIRE(fired == 0);
      if (now >= i * 50 + 75) REQUIRE(fired == 1);
    }
  }

  for (std::size_t i = 0; i < 200; i += 2) CHECK(entries[i].fired == 0);
  CHECK_FALSE(timers.Next().has_value());
}

TEST_CASE("http: timers that are minutes away share their time, and are never early", "[http]") {
  Timers timers;
  const Clock::Monotonic start(std::chrono::hours(1));
  std::vector<CountingEntry> entries(60'000);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    timers.Arm(entries[i], start, start + std::chrono::minutes(30) + std::chrono::milliseconds(i));
  }

  std::size_t turns = 0;
  std::size_t fired = 0;
  while (const auto next = timers.Next()) {
    timers.RunDue(*next);
    ++turns;
    const auto due = static_cast<std::size_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(*next - start).count() - 30 * 60'000);
    for (; fired < entries.size() && entries[fired].fired == 1; ++fired) REQUIRE(fired <= due);
    REQUIRE(fired + 1100 > std::min(due, entries.size()));
  }
  CHECK(fired == entries.size());
  CHECK(turns < 70);
}

TEST_CASE("http: tasks of one thread run in order, on the loop's thread", "[http]") {
  const auto loop = Loop::Create(NullLogSink());
  loop->Start("loop");
  Journal done;
  for (int i = 0; i < 100; ++i) {
    loop->Post([&, i] { done.Add(std::to_string(i) + (loop->Inside() ? "" : "!")); });
  }
  REQUIRE(done.Await("99"));
  const auto lines = done.lines();
  for (std::size_t i = 0; i < 100; ++i) CHECK(lines[i] == std::to_string(i));
  CHECK_FALSE(loop->Inside());
  loop->Stop();
}

TEST_CASE("http: a cancelled timer does not fire, a stopped loop drops tasks", "[http]") {
  const auto loop = Loop::Create(NullLogSink());
  loop->Start("loop");
  Journal fired;
  Executor::Cancel second;
  Executor::Cancel never;
  // Armed and cancelled in one turn: no timer fires between the two.
  loop->Post([&] {
    auto first = loop->PostAfter(std::chrono::milliseconds(1), [&] { fired.Add("first"); });
    second = loop->PostAfter(std::chrono::milliseconds(20), [&] { fired.Add("second"); });
    never = loop->PostAfter(std::chrono::hours(1), [&] { fired.Add("never"); });
    first();
  });
  REQUIRE(fired.Await("second"));
  second();
  loop->Stop();
  loop->Post([&] { fired.Add("late"); });
  never();

  CHECK(fired.Text() == "second");
}

TEST_CASE("http: an event delivered after the stop is dealt with at once", "[http]") {
  struct Event final : LoopEvent {
    explicit Event(Journal& j) : journal(j) {}
    void OnLoop() override { journal.Add("dealt"); }
    Journal& journal;
  };
  Journal journal;
  const auto loop = Loop::Create(NullLogSink());
  loop->Start("loop");
  loop->Stop();

  loop->Deliver(std::make_shared<Event>(journal));

  CHECK(journal.Text() == "dealt");
}

// A posted task may end the connection that owns the loop; the poster has only a reference.
TEST_CASE("http: a loop may go as soon as it runs what is being posted", "[http]") {
  for (int i = 0; i < 200; ++i) {
    auto loop = Loop::Create(NullLogSink());
    loop->Start("loop");
    Notification ran;
    Thread poster("poster", [&ran, &last = *loop] { last.Post([&ran] { ran.Notify(); }); });
    ran.Wait();
    loop.reset();
    poster.Join();
  }
}

// Writes its name when it is flushed, which takes longer than a loop flushes at a time.
struct LongFlush final : Flushable {
  LongFlush(Journal& j, std::string n) : journal(j), name(std::move(n)) {}
  void Flush() override {
    journal.Add(name);
    Notification().WaitFor(std::chrono::milliseconds(1));
    if (on_flush) on_flush();
  }
  Journal& journal;
  const std::string name;
  std::function<void()> on_flush;
};

TEST_CASE("http: connections that are flushed in turn keep nothing else waiting", "[http]") {
  Journal done;
  const auto first = std::make_shared<LongFlush>(done, "first");
  const auto second = std::make_shared<LongFlush>(done, "second");
  const auto third = std::make_shared<LongFlush>(done, "third");
  const auto answer = std::make_shared<LongFlush>(done, "answer");
  const auto loop = Loop::Create(NullLogSink());
  first->on_flush = [&] {
    loop->Post([&] { done.Add("task"); });
    loop->FlushLater(answer);
    loop->FlushInTurn(first);
    first->on_flush = nullptr;
  };
  loop->Start("loop");

  loop->Post([&] {
    for (const auto& each : {first, second, third}) loop->FlushInTurn(each);
  });
  REQUIRE(done.AwaitCount(6));
  loop->Stop();

  CHECK(done.Text() == "first task answer second third first");
}

TEST_CASE("http: what is flushed in turn has as much time as what goes before it", "[http]") {
  Journal done;
  const auto first = std::make_shared<LongFlush>(done, "first");
  const auto second = std::make_shared<LongFlush>(done, "second");
  const auto third = std::make_shared<LongFlush>(done, "third");
  const auto loop = Loop::Create(NullLogSink());
  first->on_flush = [&] { loop->Post([&] { done.Add("task"); }); };
  loop->Start("loop");

  loop->Post([&] {
    for (const auto& each : {first, second, third}) loop->FlushInTurn(each);
    Notification().WaitFor(std::chrono::milliseconds(300));
  });
  REQUIRE(done.AwaitCount(4));
  loop->Stop();

  CHECK(done.Text() == "first second third task");
}

TEST_CASE("http: a loop without a thread flushes all connections at once", "[http]") {
  Journal done;
  const auto loop = Loop::Create(NullLogSink());
  loop->Post([&] {
    for (int i = 0; i < 20; ++i) loop->FlushInTurn(std::make_shared<LongFlush>(done, "flush"));
  });

  loop->RunReady();

  CHECK(done.lines().size() == 20);
}

TEST_CASE("http: a loop does not keep the memory of an output that was unusually long", "[http]") {
  const auto loop = Loop::Create(NullLogSink());
  const std::size_t usual = loop->write_buffer().capacity();
  loop->write_buffer().reserve(kMegabyte);

  CHECK(loop->write_buffer().capacity() == usual);
  loop->write_buffer().reserve(usual + 1);
  CHECK(loop->write_buffer().capacity() > usual);
}

// A descriptor that is ready to be read, and output that it leads to.
struct ReadyConnection final : FdEvents, Flushable {
  ReadyConnection(const std::shared_ptr<Loop>& l, Journal& j)
      : loop(*l), journal(j), watch(*l, eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  void OnReadable() override {
    journal.Add("read");
    loop.FlushLater(self.lock());
  }
  void OnWritable() override {}
  void Flush() override { journal.Add("flush"); }
  Loop& loop;
  Journal& journal;
  FdWatch watch;
  std::weak_ptr<ReadyConnection> self;
};

TEST_CASE("http: connections with output are flushed after every few that were read", "[http]") {
  Journal done;
  const auto loop = Loop::Create(NullLogSink());
  std::vector<std::shared_ptr<ReadyConnection>> connections;
  for (int i = 0; i < 6; ++i) {
    const auto made = std::make_shared<ReadyConnection>(loop, done);
    made->self = made;
    made->watch.AwaitReadable(made);
    connections.push_back(made);
  }

  loop->RunReady();

  CHECK(done.Text() ==
        "read read read read flush flush flush flush "
        "read read flush flush");
}

TEST_CASE("http: an exception in a task does not end the loop", "[http]") {
  Journal log;
  JournalSink sink(log);
  const auto loop = Loop::Create(sink);
  loop->Start("loop");
  Journal done;

  loop->Post([] { throw std::runtime_error("boom"); });
  loop->Post([&] { done.Add("alive"); });

  CHECK(done.Await("alive"));
  CHECK(log.Text() == "exception on a loop in=a task error=boom");
  loop->Stop();
}

}  // namespace
}  // namespace http_test
