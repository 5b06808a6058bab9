#include "storage/index/event_log.h"

#include <catch2/catch.hpp>
#include <deque>
#include <string>
#include <vector>

#include "storage/index/ref.h"

namespace apiserver::inline v0::storage::index {
namespace {

struct Event : RefCounted {
  Event(std::int64_t r, std::string k) : revision(r), key(std::move(k)) {}
  std::int64_t revision;
  std::string key;
};
struct EventAccess {
  static std::int64_t Revision(const Ref<const Event>& event) { return event->revision; }
  static std::string_view Key(const Ref<const Event>& event) { return event->key; }
};
using EventTail = EventLog<Ref<const Event>, EventAccess>;
using State = EventTail::Cursor::State;

// Runs nothing by itself: counts and keeps what it is given.
class ManualExecutor final : public Executor {
 public:
  void Post(Task task) override { tasks_.Lock()->push_back(std::move(task)); }
  Cancel PostAfter(std::chrono::nanoseconds, Task) override { return nullptr; }
  bool may_block() const override { return false; }
  bool Inside() const override { return true; }
  // The number of tasks that were waiting.
  std::size_t Run() {
    std::deque<Task> tasks;
    tasks.swap(*tasks_.Lock());
    for (Task& task : tasks) task();
    return tasks.size();
  }

 private:
  Guarded<std::deque<Task>> tasks_;
};

class Flag final : public Wakeable {
 public:
  void OnWake() override { ++wakes; }
  std::atomic<int> wakes = 0;
};

struct Fixture {
  std::shared_ptr<EventTail> log = EventTail::New(1, 0);

  void Append(std::int64_t revision, const std::string& key) {
    const Ref<const Event> event = MakeRef<const Event>(revision, key);
    log->Append({&event, 1}, revision);
  }
  void Fill(std::int64_t from, std::int64_t to) {
    for (auto r = from; r <= to; ++r)
      Append(r, (r % 2 == 0 ? "/even/" : "/odd/") + std::to_string(r));
  }
};

std::vector<std::int64_t> Revisions(EventTail::Cursor& cursor, std::size_t max,
                                    EventTail::Cursor::Read* read = nullptr,
                                    const Waker& waker = {}) {
  std::vector<std::int64_t> seen;
  auto answer =
      cursor.Next(max, waker, [&](const Ref<const Event>& e) { seen.push_back(e->revision); });
  if (read != nullptr) *read = answer;
  return seen;
}

TEST_CASE("storage.index: a cursor gets all events from its revision on, in order",
          "[storage.index]") {
  Fixture f;
  f.Fill(2, 1500);
  auto cursor = f.log->NewCursor("", 700);
  std::int64_t next = 700;
  EventTail::Cursor::Read read{};
  while (true) {
    auto seen = Revisions(*cursor, 97, &read);
    if (read.state != State::kEvents) break;
    REQUIRE(seen.size() <= 97);
    for (auto revision : seen) REQUIRE(revision == next++);
    REQUIRE(read.complete_up_to == next - 1);
  }
  CHECK(next == 1501);
  CHECK(read.state == State::kWait);
}

TEST_CASE("storage.index: a prefix is kept apart and progress covers the others",
          "[storage.index]") {
  Fixture f;
  f.Fill(2, 9);
  auto cursor = f.log->NewCursor("/even/", 2);
  EventTail::Cursor::Read read{};
  CHECK(Revisions(*cursor, 100, &read) == std::vector<std::int64_t>{2, 4, 6, 8});
  CHECK(read.complete_up_to == 9);
  f.Append(11, "/odd/11");
  CHECK(Revisions(*cursor, 100, &read).empty());
  CHECK(read.state == State::kEvents);
  CHECK(read.complete_up_to == 11);
  CHECK(Revisions(*cursor, 100, &read).empty());
  CHECK(read.state == State::kWait);
}

TEST_CASE("storage.index: a revision of several events is not split", "[storage.index]") {
  Fixture f;
  std::vector<Ref<const Event>> events;
  for (int i = 0; i < 600; ++i)
    events.push_back(MakeRef<const Event>(2, "/k/" + std::to_string(i)));
  events.push_back(MakeRef<const Event>(3, "/k/last"));
  f.log->Append(events, 3);
  auto cursor = f.log->NewCursor("", 0);
  EventTail::Cursor::Read read{};
  CHECK(Revisions(*cursor, 10, &read).size() == 600);
  CHECK(read.complete_up_to == 2);
  CHECK(Revisions(*cursor, 10, &read) == std::vector<std::int64_t>{3});
}

TEST_CASE("storage.index: a cursor from the future skips what comes before", "[storage.index]") {
  Fixture f;
  f.Fill(2, 4);
  auto cursor = f.log->NewCursor("", 8);
  f.Fill(5, 9);
  EventTail::Cursor::Read read{};
  CHECK(Revisions(*cursor, 100, &read) == std::vector<std::int64_t>{8, 9});
  CHECK(read.complete_up_to == 9);
}

TEST_CASE("storage.index: a cursor from the future survives a trim of what comes before",
          "[storage.index]") {
  Fixture f;
  f.Fill(2, 100);
  auto cursor = f.log->NewCursor("", 400);
  f.Fill(101, 600);
  f.log->TrimBelow(390);

  const auto seen = Revisions(*cursor, 1000);

  REQUIRE(seen.size() == 201);
  CHECK(seen.front() == 400);
  CHECK(seen.back() == 600);
}

TEST_CASE("storage.index: who waits for the future is not expired by what comes before",
          "[storage.index]") {
  Fixture f;
  ManualExecutor executor;
  const auto flag = std::make_shared<Flag>();
  auto cursor = f.log->NewCursor("/even/", 400);
  EventTail::Cursor::Read read{};
  CHECK(Revisions(*cursor, 1000, &read, Waker(executor, flag)).empty());
  CHECK(read.state == State::kWait);
  for (std::int64_t r = 3; r <= 401; r += 2) f.Append(r, "/odd/" + std::to_string(r));
  f.log->TrimBelow(390);

  Revisions(*cursor, 1000, &read);

  CHECK(read.state == State::kEvents);
  CHECK(read.complete_up_to == 401);
}

TEST_CASE("storage.index: whoever needs a trimmed event is told, others go on", "[storage.index]") {
  Fixture f;
  f.Fill(2, 1000);
  auto late = f.log->NewCursor("", 2);
  auto in_time = f.log->NewCursor("", 900);
  auto caught_up = f.log->NewCursor("", 1001);
  f.log->TrimBelow(900);
  EventTail::Cursor::Read read{};
  (void)Revisions(*late, 10, &read);
  CHECK(read.state == State::kTrimmed);
  CHECK(Revisions(*in_time, 1000, &read).size() == 101);
  (void)Revisions(*caught_up, 10, &read);
  CHECK(read.state == State::kWait);
  CHECK(f.log->size() == 101);
  CHECK(f.log->floor() == 900);
}

TEST_CASE("storage.index: a cursor that stopped at a segment's end survives a trim up to it",
          "[storage.index]") {
  Fixture f;
  f.Fill(2, 600);
  auto cursor = f.log->NewCursor("", 2);
  CHECK(Revisions(*cursor, 64).back() == 65);
  f.log->TrimBelow(66);
  CHECK(Revisions(*cursor, 1000).size() == 535);
}

TEST_CASE("storage.index: only cursors of the event's prefix are woken", "[storage.index]") {
  Fixture f;
  ManualExecutor home;
  auto even_flag = std::make_shared<Flag>();
  auto odd_flag = std::make_shared<Flag>();
  auto even = f.log->NewCursor("/even/", 2);
  auto odd = f.log->NewCursor("/odd/", 2);
  (void)Revisions(*even, 10, nullptr, Waker(home, even_flag));
  (void)Revisions(*odd, 10, nullptr, Waker(home, odd_flag));
  f.Append(2, "/even/2");
  home.Run();
  CHECK(even_flag->wakes == 1);
  CHECK(odd_flag->wakes == 0);
  f.log->WakeBehind();
  home.Run();
  CHECK(odd_flag->wakes == 1);
  EventTail::Cursor::Read read{};
  CHECK(Revisions(*odd, 10, &read).empty());
  CHECK(read.complete_up_to == 2);
}

TEST_CASE("storage.index: who waits is not expired by events of other prefixes",
          "[storage.index]") {
  Fixture f;
  ManualExecutor home;
  auto flag = std::make_shared<Flag>();
  auto odd = f.log->NewCursor("/odd/", 2);
  (void)Revisions(*odd, 10, nullptr, Waker(home, flag));
  for (int r = 2; r < 2000; ++r) f.Append(r, "/even/x");
  f.log->TrimBelow(1999);
  f.Append(2001, "/odd/y");
  EventTail::Cursor::Read read{};
  CHECK(Revisions(*odd, 10, &read) == std::vector<std::int64_t>{2001});
}

TEST_CASE("storage.index: many waiters of one home cost it one task", "[storage.index]") {
  Fixture f;
  ManualExecutor home;
  std::vector<std::unique_ptr<EventTail::Cursor>> cursors;
  std::vector<std::shared_ptr<Flag>> flags;
  for (int i = 0; i < 100; ++i) {
    flags.push_back(std::make_shared<Flag>());
    cursors.push_back(f.log->NewCursor("", 2));
    (void)Revisions(*cursors.back(), 10, nullptr, Waker(home, flags.back()));
  }
  f.Append(2, "/a");
  CHECK(home.Run() == 1);
  for (const auto& flag : flags) CHECK(flag->wakes == 1);
}

TEST_CASE("storage.index: a cursor may go while it waits", "[storage.index]") {
  Fixture f;
  ManualExecutor home;
  auto flag = std::make_shared<Flag>();
  auto first = f.log->NewCursor("", 2);
  auto second = f.log->NewCursor("", 2);
  (void)Revisions(*first, 10, nullptr, Waker(home, std::make_shared<Flag>()));
  (void)Revisions(*second, 10, nullptr, Waker(home, flag));
  first.reset();
  f.Append(2, "/a");
  home.Run();
  CHECK(flag->wakes == 1);
}

TEST_CASE("storage.index: closing wakes and ends all cursors", "[storage.index]") {
  Fixture f;
  ManualExecutor home;
  auto flag = std::make_shared<Flag>();
  auto cursor = f.log->NewCursor("", 2);
  (void)Revisions(*cursor, 10, nullptr, Waker(home, flag));
  f.log->Close();
  home.Run();
  CHECK(flag->wakes == 1);
  EventTail::Cursor::Read read{};
  (void)Revisions(*cursor, 10, &read);
  CHECK(read.state == State::kClosed);
}

TEST_CASE("storage.index: readers follow a writer that trims", "[storage.index]") {
  Fixture f;
  constexpr std::int64_t kLast = 30000;
  std::atomic<int> wrong = 0;
  auto follow = [&] {
    auto cursor = f.log->NewCursor("", 2);
    std::int64_t last = 1;
    while (last < kLast) {
      auto read = cursor->Next(50, Waker(), [&](const Ref<const Event>& event) {
        if (event->revision != last + 1) ++wrong;
        last = event->revision;
      });
      if (read.state == State::kTrimmed) {
        last = f.log->revision();
        cursor = f.log->NewCursor("", last + 1);
      }
    }
  };
  Thread one("reader", follow);
  Thread two("reader", follow);
  for (std::int64_t r = 2; r <= kLast; ++r) {
    f.Append(r, "/k");
    if (r % 1000 == 0) f.log->TrimBelow(r - 600);
  }
  one.Join();
  two.Join();
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace apiserver::inline v0::storage::index
