#include "apiserver/base/progress.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

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
  CHECK(job.heard->texts == ReportTexts{"warm-up of /p/: 10 of 30 objects, 1s left",
                                        "warm-up of /p/: 20 of 30 objects, 1s left",
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
                                        "warm-up of /p/: 1 of 2 objects, 1s left"});
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

}  // namespace
}  // namespace apiserver::inline v0
