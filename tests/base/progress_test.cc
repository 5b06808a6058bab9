#include "apiserver/base/progress.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <stdexcept>
#include <vector>

#include "apiserver/base/metrics.h"
#include "manual.h"

namespace apiserver::inline v0 {
namespace {

using namespace std::chrono_literals;
using testing::ManualClock;
using ReportTexts = std::vector<std::string>;

// Keeps the texts of reports, and does what a test wants of a sink.
class HeardProgress final : public ProgressSink {
 public:
  void Report(const Progress& progress) override {
    texts.push_back(progress.ToString() + (progress.finished ? "; finished" : ""));
    if (on_report) on_report();
  }
  ReportTexts texts;
  std::function<void()> on_report;
};

// Keeps log lines as text.
class ProgressLines final : public LogSink {
 public:
  bool Enabled(LogLevel level) const override { return level >= lowest; }
  void Write(LogLevel level, std::string_view message, std::span<const LogField> fields) override {
    std::string line = (level == LogLevel::kWarning ? "W " : "") + std::string(message);
    for (const LogField& field : fields) line += " " + std::string(field.key) + "=" + field.value;
    texts.push_back(std::move(line));
  }
  LogLevel lowest = LogLevel::kInfo;
  ReportTexts texts;
};

struct ReportedJob {
  ManualClock clock;
  std::shared_ptr<HeardProgress> heard = std::make_shared<HeardProgress>();
  ProgressReporter reporter{heard, clock, {.what = "warm-up", .subject = "/p/", .unit = "objects"}};
};

TEST_CASE("base: a job is reported ten times a second at most, in order, and at its end",
          "[base]") {
  ReportedJob job;
  for (std::uint64_t done = 1; done <= 25; ++done) {
    job.clock.Advance(10ms);
    job.reporter.Update(done, 30);
  }
  job.reporter.Finish();
  CHECK(job.heard->texts == ReportTexts{"warm-up of /p/: 10 of 30 objects, 1s to go",
                                        "warm-up of /p/: 20 of 30 objects, 1s to go",
                                        "warm-up of /p/: 25 of 30 objects; finished"});
}

TEST_CASE("base: a job that is over within a moment is reported once, unless it is announced",
          "[base]") {
  const bool announced = GENERATE(false, true);
  ReportedJob job;
  if (announced) job.reporter.Announce();
  job.reporter.Update(1, 2);
  job.reporter.Update(2, 2);
  job.reporter.Finish();
  ReportTexts expected{"warm-up of /p/: 2 of 2 objects; finished"};
  if (announced) expected.insert(expected.begin(), "warm-up of /p/");
  CHECK(job.heard->texts == expected);
}

TEST_CASE("base: what a job has done never becomes less, and its total may grow", "[base]") {
  ReportedJob job;
  job.reporter.Update(5, 10);
  job.reporter.Update(4, 12);
  const Progress progress = job.reporter.Get();
  CHECK(progress.done == 5);
  CHECK(progress.total == 12);
}

TEST_CASE("base: work that comes to a job makes it longer", "[base]") {
  ReportedJob job;
  const auto update = [&job](std::uint64_t left) {
    job.reporter.UpdateLeft(left);
    return job.reporter.Get().Extent();
  };
  CHECK(update(5) == "0 of 5 objects");
  CHECK(update(2) == "3 of 5 objects");
  CHECK(update(4) == "3 of 7 objects");
  CHECK(update(0) == "7 of 7 objects");
  job.reporter.UpdateLeft(1, "1 watch");
  CHECK(job.reporter.Get().Extent() == "1 watch left");
}

TEST_CASE("base: the time left follows from the clock, and is not known without a total",
          "[base]") {
  ReportedJob job;
  job.clock.Advance(10s);
  CHECK(job.reporter.Get().TimeLeft() == std::nullopt);
  job.reporter.Update(25, 0);
  CHECK(job.reporter.Get().TimeLeft() == std::nullopt);
  job.reporter.Update(25, 100);
  CHECK(job.reporter.Get().elapsed() == 10s);
  CHECK(job.reporter.Get().TimeLeft() == 30s);
  job.clock.Advance(10s);
  CHECK(job.reporter.Get().TimeLeft() == 60s);
  job.reporter.Update(50, 100, "50 watches");
  CHECK(job.reporter.Get().TimeLeft() == std::nullopt);
  job.reporter.Update(100, 100);
  CHECK(job.reporter.Get().TimeLeft() == 0s);
  job.reporter.Update(101, 100);
  CHECK(job.reporter.Get().TimeLeft() == std::nullopt);
  job.reporter.Update(101, std::uint64_t{1} << 63);
  CHECK(job.reporter.Get().TimeLeft() == 365 * 24h);
  job.reporter.Finish();
  CHECK(job.reporter.Get().TimeLeft() == std::nullopt);
}

TEST_CASE("base: a sink that throws does not end the job", "[base]") {
  ReportedJob job;
  job.heard->on_report = [] { throw std::runtime_error("broken"); };
  for (int i = 1; i <= 2; ++i) {
    job.clock.Advance(100ms);
    job.reporter.Update(i, 0);
  }
  job.reporter.Finish();
  CHECK(job.heard->texts == ReportTexts{"warm-up of /p/: 1 objects", "warm-up of /p/: 2 objects",
                                        "warm-up of /p/: 2 objects; finished"});
}

TEST_CASE("base: a slow sink takes a tenth of a job's time at most", "[base]") {
  ReportedJob job;
  job.heard->on_report = [&job] { job.clock.Advance(1s); };
  for (int i = 1; i <= 100'000; ++i) {
    job.clock.Advance(1ms);
    job.reporter.Update(i, 0);
  }
  // The job works for 100 s: one report after 100 ms, the others after 9 s of work each.
  CHECK(job.heard->texts.size() == 12);
  CHECK(job.reporter.Get().elapsed() == 112s);
}

TEST_CASE("base: a failure is reported at once, and forgotten when the job gets on", "[base]") {
  ReportedJob job;
  job.reporter.Fail({Reason::kServiceUnavailable, "the engine is down"});
  CHECK(!job.reporter.Get().failure.ok());
  job.clock.Advance(100ms);
  job.reporter.Update(1, 2);
  CHECK(job.heard->texts == ReportTexts{"warm-up of /p/: the engine is down",
                                        "warm-up of /p/: 1 of 2 objects, 1s to go"});
}

TEST_CASE("base: a job ends once, may begin anew, and is given up when it goes unfinished",
          "[base]") {
  const auto heard = std::make_shared<HeardProgress>();
  ManualClock clock;
  {
    ProgressReporter reporter(heard, clock, {.what = "drain"});
    reporter.Finish();
    reporter.Finish();
    reporter.Fail({Reason::kTimeout, "late"});
    reporter.Announce();
    clock.Advance(1s);
    reporter.Update(1, 1);
    reporter.Restart();
    CHECK(reporter.Get().elapsed() == 0s);
    reporter.Update(3, 0, "2 watches");
  }
  CHECK(heard->texts ==
        ReportTexts{"drain; finished", "drain: 2 watches left: it was given up; finished"});
}

TEST_CASE("base: reports of several threads come one after another, and the end is the last",
          "[base]") {
  const auto heard = std::make_shared<HeardProgress>();
  std::atomic<int> inside = 0;
  std::atomic<bool> together = false;
  heard->on_report = [&] {
    if (++inside > 1) together = true;
    --inside;
  };
  ProgressReporter reporter(heard, RealClock(), {.what = "warm-up"});
  {
    std::vector<Thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back("reports", [&reporter] {
        for (int n = 0; n < 200; ++n) reporter.Fail({Reason::kTimeout, "slow"});
      });
    }
    threads.emplace_back("ends", [&reporter] { reporter.Finish(); });
  }
  CHECK(!together);
  CHECK(heard->texts.back() == "warm-up; finished");
}

TEST_CASE("base: the log has a job's start, every five seconds of it, failures and its end",
          "[base]") {
  ProgressLines lines;
  const auto next = std::make_shared<HeardProgress>();
  ManualClock clock;
  ProgressReporter reporter(NewProgressLog({.log = &lines, .next = next}), clock,
                            {.what = "warm-up", .subject = "/p/", .unit = "objects"});
  reporter.Announce();
  for (int i = 1; i <= 119; ++i) {
    clock.Advance(100ms);
    reporter.Update(i, 240);
    if (i == 60) reporter.Fail({Reason::kTimeout, "slow"});
  }
  reporter.Finish();
  CHECK(
      lines.texts ==
      ReportTexts{"warm-up started subject=/p/ elapsed=0s",
                  "warm-up goes on subject=/p/ done=50 of 240 objects left=19s elapsed=5s",
                  "W warm-up failed; it is tried again subject=/p/ done=60 of 240 objects left=18s "
                  "elapsed=6s why=slow",
                  "warm-up goes on subject=/p/ done=110 of 240 objects left=13s elapsed=11s",
                  "warm-up finished subject=/p/ done=119 of 240 objects elapsed=12s"});
  CHECK(next->texts.size() == 122);
}

TEST_CASE("base: jobs of one kind share their lines, and routine is for debugging", "[base]") {
  ProgressLines lines;
  ManualClock clock;
  const auto log = NewProgressLog({.log = &lines});
  ProgressReporter one(log, clock, {.what = "warm-up", .subject = "/1/"});
  ProgressReporter two(log, clock, {.what = "warm-up", .subject = "/2/"});
  ProgressReporter trim(log, clock, {.what = "compaction", .routine = true});
  const auto advance = [&](std::chrono::seconds by) {
    clock.Advance(by);
    for (ProgressReporter* each : {&one, &two, &trim}) each->Update(1, 0);
  };
  advance(1s);
  advance(4s);
  advance(1s);
  trim.Finish();
  CHECK(lines.texts == ReportTexts{"warm-up started subject=/1/ done=1 elapsed=1s",
                                   "warm-up started subject=/2/ done=1 elapsed=1s others=1",
                                   "warm-up goes on subject=/1/ done=1 elapsed=6s others=1",
                                   "compaction goes on done=1 elapsed=6s"});
  one.Finish();
  two.Finish({Reason::kTimeout, "late"});
  CHECK(lines.texts[4] == "warm-up finished subject=/1/ done=1 elapsed=6s others=1");
  CHECK(lines.texts[5] == "W warm-up given up subject=/2/ done=1 elapsed=6s why=late");
}

TEST_CASE("base: running jobs are counted by their kind", "[base]") {
  const std::shared_ptr<metrics::Registry> registry = metrics::NewRegistry();
  ManualClock clock;
  const auto log = NewProgressLog({.metrics = registry});
  const auto shows = [&registry](const std::string& line) {
    const std::string text = registry->Serialize();
    INFO(text);
    return text.find("\napiserver_progress_" + line + "\n") != std::string::npos;
  };
  ProgressReporter one(log, clock, {.what = "warm-up"});
  ProgressReporter two(log, clock, {.what = "warm-up"});
  clock.Advance(1s);
  one.Update(3, 10);
  two.Update(4, 5);
  CHECK(shows("jobs{what=\"warm-up\"} 2"));
  CHECK(shows("done{what=\"warm-up\"} 7"));
  CHECK(shows("expected{what=\"warm-up\"} 15"));

  one.Finish();
  CHECK(shows("jobs{what=\"warm-up\"} 1"));
  CHECK(shows("done{what=\"warm-up\"} 4"));
  two.Finish({Reason::kTimeout, "late"});
  CHECK(shows("jobs{what=\"warm-up\"} 0"));
  CHECK(shows("expected{what=\"warm-up\"} 0"));
  CHECK(shows("finished_total{what=\"warm-up\",outcome=\"success\"} 1"));
  CHECK(shows("finished_total{what=\"warm-up\",outcome=\"error\"} 1"));
}

}  // namespace
}  // namespace apiserver::inline v0
