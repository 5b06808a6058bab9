#include "program/progress_bar.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>
#include <vector>

namespace apiserver::inline v0::program {
namespace {

using namespace std::chrono_literals;

// A bar on a screen that keeps what is written to it.
struct Screen {
  // A report of a job that began at the first moment.
  void Report(const void* job, std::string what, std::uint64_t done, std::uint64_t total,
              std::chrono::milliseconds at = 10s) {
    bar.Report({.job = job,
                .what = std::move(what),
                .unit = "objects",
                .done = done,
                .total = total,
                .started = {},
                .at = Clock::Monotonic(at)});
  }
  void Finish(const void* job) { bar.Report({.job = job, .finished = true}); }
  // Returns what was written since the last call.
  std::string Take() { return std::exchange(bytes, ""); }

  std::size_t columns = 61;
  std::string bytes;
  ProgressBar bar{{.write = [this](std::string_view written) { bytes += written; },
                   .columns = [this] { return columns; }}};
};

// Writes lines to a screen as a log does to a terminal.
class ScreenLog final : public LogSink {
 public:
  explicit ScreenLog(Screen& screen) : screen_(screen) {}
  bool Enabled(LogLevel) const override { return true; }
  void Write(LogLevel, std::string_view message, std::span<const LogField>) override {
    screen_.bytes += std::string(message) + "\n";
  }

 private:
  Screen& screen_;
};

const int kJob = 0;
const int kOther = 0;
const std::string kClear = "\r\x1b[K";

}  // namespace

TEST_CASE("program: the bar is redrawn in its line, and leaves it empty", "[program]") {
  Screen screen;
  screen.Report(&kJob, "opening", 0, 0);
  CHECK(screen.Take() == kClear + "opening");
  screen.Report(&kJob, "opening", 7, 0);
  CHECK(screen.Take() == kClear + "opening 7 objects");
  screen.Report(&kJob, "warm-up", 5, 20);
  CHECK(screen.Take() == kClear + "warm-up [#####------------------] 5 of 20 objects, 30s to go");
  screen.Report(&kJob, "warm-up", 20, 20);
  CHECK(screen.Take() == kClear + "warm-up [#######################] 20 of 20 objects, 0s to go");
  screen.Finish(&kJob);
  CHECK(screen.Take() == kClear);
  screen.Finish(&kOther);
  CHECK(screen.Take().empty());
}

TEST_CASE("program: the bar keeps to the width of the terminal", "[program]") {
  Screen screen;
  const auto line = [&](std::size_t columns) {
    screen.columns = columns;
    screen.Report(&kJob, "w\u00e4rm-up", 1, 2);
    return screen.Take().substr(kClear.size());
  };
  const std::string rest = " 1 of 2 objects, 10s to go";
  CHECK(line(200) == "w\u00e4rm-up [" + std::string(15, '#') + std::string(15, '-') + "]" + rest);
  CHECK(line(48) == "w\u00e4rm-up [#####-----]" + rest);
  CHECK(line(47) == "w\u00e4rm-up" + rest);
  CHECK(line(35) == "w\u00e4rm-up" + rest);
  CHECK(line(34) == "w\u00e4rm-up 1 of 2 objects, 10s to g");
  CHECK(line(3) == "w");
  CHECK(line(0) == "w");
}

TEST_CASE("program: log lines stand above the bar, whole", "[program]") {
  Screen screen;
  ScreenLog log(screen);
  LogAboveBar above(log, &screen.bar);
  above.Write(LogLevel::kInfo, "first", {});
  CHECK(screen.Take() == "first\n");
  screen.Report(&kJob, "opening", 7, 0);
  above.Write(LogLevel::kInfo, "second", {});
  CHECK(screen.Take() == kClear + "opening 7 objects" + kClear + "second\nopening 7 objects");
  screen.Finish(&kJob);
  above.Write(LogLevel::kInfo, "third", {});
  CHECK(screen.Take() == kClear + "third\n");

  LogAboveBar alone(log, nullptr);
  alone.Write(LogLevel::kInfo, "fourth", {});
  CHECK(screen.Take() == "fourth\n");
}

TEST_CASE("program: the bar makes room for other output until the next report", "[program]") {
  Screen screen;
  screen.bar.Hide();
  CHECK(screen.Take().empty());
  screen.Report(&kJob, "opening", 7, 0);
  screen.Take();
  screen.bar.Hide();
  CHECK(screen.Take() == kClear);
  screen.Report(&kJob, "opening", 8, 0);
  CHECK(screen.Take() == kClear + "opening 8 objects");
}

TEST_CASE("program: of several jobs the bar shows the one that runs for longest", "[program]") {
  Screen screen;
  screen.Report(&kJob, "warm-up", 1, 0);
  screen.Take();
  screen.bar.Report({.job = &kOther, .what = "drain", .started = Clock::Monotonic(1s)});
  CHECK(screen.Take().empty());
  screen.Report(&kJob, "warm-up", 2, 0);
  CHECK(screen.Take() == kClear + "warm-up 2 objects (+1)");
  screen.Finish(&kJob);
  CHECK(screen.Take() == kClear + "drain");
  screen.bar.Report({.job = &kJob, .what = "compaction", .routine = true});
  CHECK(screen.Take().empty());
}

TEST_CASE("program: there is a bar on a terminal that can move its cursor only", "[program]") {
  std::array<int, 2> ends{};
  REQUIRE(pipe(ends.data()) == 0);
  CHECK(NewProgressBar(ends[1], "xterm") == nullptr);
  close(ends[0]);
  close(ends[1]);

  const int screen = posix_openpt(O_RDWR | O_NOCTTY);
  if (screen < 0) {
    WARN("NOT CHECKED: the bar of a terminal. There are none: /dev/pts is not mounted");
    return;
  }
  REQUIRE(grantpt(screen) == 0);
  REQUIRE(unlockpt(screen) == 0);
  std::array<char, 64> name{};
  REQUIRE(ptsname_r(screen, name.data(), name.size()) == 0);
  const int terminal = open(name.data(), O_RDWR | O_NOCTTY);
  CHECK(NewProgressBar(terminal, "dumb") == nullptr);
  CHECK(NewProgressBar(terminal, "") == nullptr);
  const auto bar = NewProgressBar(terminal, "xterm");
  REQUIRE(bar != nullptr);
  bar->Report({.job = &kJob, .what = "opening", .subject = "/data"});
  std::array<char, 64> read_back{};
  const auto size = read(screen, read_back.data(), read_back.size());
  CHECK(std::string(read_back.data(), size) == kClear + "opening of /data");
  close(terminal);
  close(screen);
}

}  // namespace apiserver::inline v0::program
