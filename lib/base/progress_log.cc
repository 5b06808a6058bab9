#include <map>
#include <utility>
#include <vector>

#include "apiserver/base/metrics.h"
#include "apiserver/base/progress.h"
#include "text/duration.h"

namespace apiserver::v0 {

namespace {

// The series of one kind of job. All are null without a registry.
struct Gauges {
  metrics::Gauge* jobs = nullptr;
  metrics::Gauge* done = nullptr;
  metrics::Gauge* expected = nullptr;
};

// A job that runs, as its last report had it.
struct Job {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  Status failure;
};

// The sums over the running jobs of one kind.
struct Kind {
  std::size_t jobs = 0;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  Clock::Monotonic last_line;  // The time of the last line about a job that runs.
  Gauges gauges;

  void Show() const {
    if (gauges.jobs == nullptr) return;
    gauges.jobs->Set(static_cast<double>(jobs));
    gauges.done->Set(static_cast<double>(done));
    gauges.expected->Set(static_cast<double>(total));
  }
};

std::string RoundedText(std::chrono::nanoseconds duration) {
  if (duration > std::chrono::seconds(10)) {
    return text::FormatDuration(std::chrono::round<std::chrono::seconds>(duration));
  }
  return text::FormatDuration(std::chrono::round<std::chrono::milliseconds>(duration));
}

class ProgressLog final : public ProgressSink {
 public:
  explicit ProgressLog(ProgressLogOptions options) : options_(std::move(options)) {}

  void Report(const Progress& progress) override {
    const Line line = Take(progress);
    Write(line, progress);
    if (progress.finished) Count(progress);
    if (options_.next != nullptr) options_.next->Report(progress);
  }

 private:
  struct State {
    std::map<const void*, Job> jobs;
    std::map<std::string, Kind, std::less<>> kinds;
  };
  // The line about a report.
  struct Line {
    LogLevel level = LogLevel::kInfo;
    std::string_view says;   // After the kind of the job. Empty: there is no line.
    std::size_t others = 0;  // The number of other running jobs of the kind.
  };

  Kind& KindOf(State& state, const std::string& what) const {
    const auto [at, added] = state.kinds.try_emplace(what);
    if (!added || options_.metrics == nullptr) return at->second;
    metrics::Registry& registry = *options_.metrics;
    const auto gauge = [&registry, &what](std::string name, std::string help) {
      return &registry.Gauges({std::move(name), std::move(help), {"what"}}).With({what});
    };
    at->second.gauges = {
        .jobs = gauge("apiserver_progress_jobs",
                      "[ALPHA] Long jobs that run, by their kind: warm-up of a cache, opening and "
                      "compaction of a store, re-encryption, drain of the server."),
        .done = gauge("apiserver_progress_done",
                      "[ALPHA] Work that the running jobs have done, in the unit of their kind: "
                      "objects, versions, changes, requests."),
        .expected = gauge("apiserver_progress_expected",
                          "[ALPHA] Work that the running jobs have in all, in the same unit; zero: "
                          "not known.")};
    return at->second;
  }

  // Enters the report and returns the line to write.
  Line Take(const Progress& progress) {
    auto state = state_.Lock();
    Kind& kind = KindOf(*state, progress.what);
    const auto [at, added] = state->jobs.try_emplace(progress.job);
    Job& job = at->second;
    const bool failed_anew = !progress.failure.ok() && progress.failure != job.failure;
    kind.done -= job.done;
    kind.total -= job.total;
    if (added) ++kind.jobs;
    if (progress.finished) {
      --kind.jobs;
      state->jobs.erase(at);
      kind.Show();
      return EndLine(progress, kind);
    }
    job = {progress.done, progress.total, progress.failure};
    kind.done += job.done;
    kind.total += job.total;
    kind.Show();
    return LineBetween(progress, added, failed_anew, kind);
  }

  static LogLevel UsualLevel(const Progress& progress) {
    return progress.routine ? LogLevel::kDebug : LogLevel::kInfo;
  }

  static Line EndLine(const Progress& progress, const Kind& kind) {
    if (progress.failure.ok()) return {UsualLevel(progress), " finished", kind.jobs};
    return {progress.routine ? LogLevel::kDebug : LogLevel::kWarning, " given up", kind.jobs};
  }

  Line LineBetween(const Progress& progress, bool added, bool failed_anew, Kind& kind) const {
    const bool due = progress.at - kind.last_line >= options_.period;
    if (!added && !failed_anew && !due) return {};
    const std::size_t others = kind.jobs - 1;
    // The first job of a kind that starts sets the time of the next line, not those beside it.
    if (!added || others == 0) kind.last_line = progress.at;
    if (failed_anew) return {LogLevel::kWarning, " failed; it is tried again", others};
    if (added) return {UsualLevel(progress), " started", others};
    return {LogLevel::kInfo, " goes on", others};
  }

  void Write(const Line& line, const Progress& progress) const {
    if (line.says.empty() || !options_.log->Enabled(line.level)) return;
    std::vector<LogField> fields;
    const auto add = [&fields](std::string_view key, std::string value) {
      if (!value.empty()) fields.push_back({key, std::move(value)});
    };
    add("subject", progress.subject);
    add("done", progress.Extent());
    if (const auto rest = progress.TimeLeft()) add("left", RoundedText(*rest));
    add("elapsed", RoundedText(progress.elapsed()));
    if (!progress.failure.ok()) add("why", std::string(progress.failure.message()));
    if (line.others > 0) add("others", std::to_string(line.others));
    options_.log->Write(line.level, progress.what + std::string(line.says), fields);
  }

  void Count(const Progress& progress) const {
    if (options_.metrics == nullptr) return;
    options_.metrics
        ->Counters({.name = "apiserver_progress_finished_total",
                    .help = "[ALPHA] Long jobs that have finished, by their kind and outcome.",
                    .labels = {"what", "outcome"}})
        .With({progress.what, progress.failure.ok() ? "success" : "error"})
        .Add();
  }

  const ProgressLogOptions options_;
  Guarded<State> state_;
};

}  // namespace

std::shared_ptr<ProgressSink> NewProgressLog(ProgressLogOptions options) {
  return std::make_shared<ProgressLog>(std::move(options));
}

}  // namespace apiserver::v0
