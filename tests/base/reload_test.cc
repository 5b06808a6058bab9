#include "apiserver/base/reload.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "apiserver/base/sync.h"
#include "base/manual.h"

namespace apiserver::inline v0 {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// A certificate and its key in memory, and what was made of them.
struct Fixture {
  Fixture() {
    Write("cert", "c1");
    Write("key", "k1");
  }
  void Write(const std::string& path, std::string_view bytes) {
    REQUIRE(files->WriteAtomically(path, bytes, 0600).ok());
  }
  Result<std::unique_ptr<WatchedFiles>> Start() {
    return WatchFiles({"cert", "key"}, minutes(1), {*files, executor, clock},
                      [this](const std::vector<std::string>& contents) {
                        ++calls;
                        if (!answer.ok()) return answer;
                        used = contents[0] + "+" + contents[1];
                        return Status();
                      });
  }

  std::unique_ptr<FileSystem> files = NewMemoryFileSystem();
  testing::ManualExecutor executor;
  testing::ManualClock clock;
  Status answer;
  std::string used;
  int calls = 0;
};

TEST_CASE("base: watched files are used before watching begins", "[base]") {
  Fixture fixture;

  const auto watch = fixture.Start();

  REQUIRE(watch.ok());
  CHECK(fixture.used == "c1+k1");
}

// Remembers the messages of lines.
class Lines final : public LogSink {
 public:
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel, std::string_view message, std::span<const LogField> fields) override {
    std::string line(message);
    for (const LogField& field : fields) line += " " + field.value;
    lines.push_back(std::move(line));
  }

  std::vector<std::string> lines;
};

TEST_CASE("base: what cannot be used at first is an error and no line, later it is a line",
          "[base]") {
  const auto files = NewMemoryFileSystem();
  testing::ManualExecutor executor;
  Lines log;
  const auto watch = [&] {
    return WatchFiles({"f"}, minutes(1), {.files = *files, .executor = executor, .log = log},
                      [](const std::vector<std::string>& contents) {
                        return contents[0] == "good" ? Status()
                                                     : Status(Reason::kInvalid, "it is bad");
                      });
  };
  REQUIRE(files->WriteAtomically("f", "bad", 0600).ok());
  CHECK(watch().status().message() == "it is bad");
  CHECK(log.lines.empty());

  REQUIRE(files->WriteAtomically("f", "good", 0600).ok());
  const auto watched = watch();
  REQUIRE(watched.ok());
  REQUIRE(files->WriteAtomically("f", "bad", 0600).ok());
  executor.Advance(minutes(1));

  CHECK(log.lines == std::vector<std::string>{"a changed file is not used f Invalid: it is bad"});
}

TEST_CASE("base: files that cannot be read or used at first are not watched", "[base]") {
  Fixture fixture;

  SECTION("missing") {
    REQUIRE(fixture.files->Remove("key").ok());
    CHECK(fixture.Start().status().reason() == Reason::kNotFound);
  }
  SECTION("refused") {
    fixture.answer = Status(Reason::kInvalid, "no certificate");
    CHECK(fixture.Start().status() == fixture.answer);
  }
  CHECK(fixture.executor.timers() == 0);
}

TEST_CASE("base: a changed file is used at the next period, an unchanged one is not", "[base]") {
  Fixture fixture;
  const auto watch = fixture.Start();
  fixture.executor.Advance(minutes(1));
  CHECK(fixture.calls == 1);

  fixture.Write("key", "k2");
  fixture.executor.Advance(seconds(59));
  CHECK(fixture.calls == 1);
  fixture.executor.Advance(seconds(1));

  CHECK(fixture.used == "c1+k2");
  CHECK(fixture.calls == 2);
}

TEST_CASE("base: what is refused leaves the old in use until the files change again", "[base]") {
  Fixture fixture;
  const auto watch = fixture.Start();
  fixture.answer = Status(Reason::kInvalid, "they do not match");
  fixture.Write("cert", "c2");
  fixture.executor.Advance(minutes(1));
  fixture.executor.Advance(minutes(1));
  CHECK(fixture.used == "c1+k1");
  CHECK(fixture.calls == 2);
  CHECK((*watch)->Check() == fixture.answer);

  fixture.answer = Status();
  fixture.Write("key", "k2");
  fixture.executor.Advance(minutes(1));

  CHECK(fixture.used == "c2+k2");
  CHECK((*watch)->Check().ok());
}

TEST_CASE("base: a file that vanishes for a while changes nothing", "[base]") {
  Fixture fixture;
  const auto watch = fixture.Start();
  REQUIRE(fixture.files->Remove("cert").ok());

  CHECK((*watch)->Check().reason() == Reason::kNotFound);
  fixture.Write("cert", "c1");

  CHECK((*watch)->Check().ok());
  CHECK(fixture.calls == 1);
}

TEST_CASE("base: Check looks at once and used_at tells when contents were taken", "[base]") {
  Fixture fixture;
  const auto watch = fixture.Start();
  fixture.Write("cert", "c2");
  fixture.clock.Advance(seconds(30));

  REQUIRE((*watch)->Check().ok());
  fixture.clock.Advance(seconds(30));
  REQUIRE((*watch)->Check().ok());

  CHECK(fixture.used == "c2+k1");
  CHECK((*watch)->used_at() == Clock::Wall(seconds(30)));
}

TEST_CASE("base: destroying a watch takes its timer away", "[base]") {
  Fixture fixture;
  auto watch = fixture.Start();
  REQUIRE(fixture.executor.timers() == 1);

  watch->reset();

  CHECK(fixture.executor.timers() == 0);
}

TEST_CASE("base: each look that cannot read a watched file is told of", "[base]") {
  Fixture fixture;
  std::vector<Status> told;
  const auto watch = WatchFiles({"cert"}, minutes(1),
                                {.files = *fixture.files,
                                 .executor = fixture.executor,
                                 .unreadable = [&](const Status& why) { told.push_back(why); }},
                                [](const auto&) { return Status(); });
  REQUIRE(watch.ok());
  CHECK(told.empty());
  REQUIRE(fixture.files->Remove("cert").ok());
  CHECK((*watch)->Check().reason() == Reason::kNotFound);
  CHECK((*watch)->Check().reason() == Reason::kNotFound);
  REQUIRE(told.size() == 2);
  CHECK(told[0].reason() == Reason::kNotFound);
}

TEST_CASE("base: an exception from the user of watched files is an error like any", "[base]") {
  Fixture fixture;

  const auto watch =
      WatchFiles({"cert"}, minutes(1), {*fixture.files, fixture.executor},
                 [](const auto&) -> Status { throw std::runtime_error("broken parser"); });

  CHECK(watch.status() == Status(Reason::kInternalError, "broken parser"));
}

TEST_CASE("base: a watch is checked and destroyed while its pool polls", "[base]") {
  Fixture fixture;
  const auto pool = NewThreadPool({.threads = 2});
  Guarded<int> calls(0);
  {
    auto watch = WatchFiles({"cert"}, std::chrono::microseconds(50), {*fixture.files, *pool},
                            [&](const auto&) {
                              ++*calls.Lock();
                              calls.NotifyAll();
                              return Status();
                            });
    for (int i = 0; i < 50; ++i) {
      fixture.Write("cert", std::to_string(i));
      if (i % 10 == 0) CHECK((*watch)->Check().ok());
    }
    auto locked = calls.Lock();
    locked.Wait([&] { return *locked >= 2; });
  }
  const int after = *calls.Lock();
  fixture.Write("cert", "unseen");
  Notification next;
  pool->Post([&] { next.Notify(); });
  next.Wait();

  CHECK(*calls.Lock() == after);
}

}  // namespace
}  // namespace apiserver::inline v0
