#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/base/clock.h"
#include "apiserver/base/log.h"
#include "apiserver/base/status.h"
#include "apiserver/base/sync.h"

namespace apiserver::inline v0::metrics {
class Registry;
}  // namespace apiserver::inline v0::metrics

// The progress of a server's long jobs: the warm-up of a cache, the opening and the compaction of a
// store, the re-encryption of what it holds, the drain of a server that stops.
namespace apiserver::inline v0 {

// A report about one job, with its state at one moment.
struct Progress {
  // Identifies the job among those that run. Another job may have it once this one has finished.
  const void* job = nullptr;
  // The kind of the job, a stable word: "warm-up", "opening", "compaction",
  // "re-encryption", "drain".
  std::string what;
  std::string subject;  // A prefix of keys, a directory, … Empty: the kind says enough.
  std::string unit;     // The unit of `done` and `total`, in the plural: "objects".
  // True: the job is normal maintenance that people need not hear of unless it takes long.
  bool routine = false;

  std::uint64_t done = 0;   // Never decreases.
  std::uint64_t total = 0;  // Zero: not known. May grow while new work comes in.
  std::string left;         // The rest in words, "37 watches, 2 requests"; empty: numbers tell it.
  // The error of the last attempt, OK when the next one makes progress. Of a finished job: why it
  // was given up. OK: it was completed.
  Status failure;
  bool finished = false;  // True in the last report of a job, and only there.

  Clock::Monotonic started;
  Clock::Monotonic at;  // The time of this report.

  std::chrono::nanoseconds elapsed() const { return at - started; }
  // Estimates how long the rest takes if it goes on at the average speed so far. nullopt: the total
  // is not known, nothing is done yet, `left` says it, or the job has finished.
  std::optional<std::chrono::nanoseconds> TimeLeft() const;
  // Returns what the job is about: "warm-up of /registry/pods/".
  std::string Title() const;
  // Returns how far it is: "30000 of 100000 objects", "30000 objects", or `left`. Empty: nothing is
  // known yet.
  std::string Extent() const;
  // Returns "warm-up of /registry/pods/: 30000 of 100000 objects, 7s to go: <failure>", with
  // the parts that are known.
  std::string ToString() const;
};

// Receives the progress of jobs, for example to show it. The reports of one job come one after
// another and in order, those of several jobs at the same time.
class ProgressSink {
 public:
  virtual ~ProgressSink() = default;
  // Called on any thread, for example one that holds up a start. Must not block and must not call
  // the reporter of the job. An exception is dropped, and the job goes on.
  virtual void Report(const Progress& progress) = 0;
};

// The job's side: turns its steps into reports, few enough that a fast job does not become slower.
// Methods may be called from any thread.
class ProgressReporter {
 public:
  // The shortest time between two reports, but for those of a failure and of the end.
  static constexpr std::chrono::milliseconds kInterval{100};

  // The parts of a report that do not change.
  struct Job {
    std::string what;
    std::string subject = "";
    std::string unit = "";
    bool routine = false;
  };
  // Begins the job without a report. `sink` is shared with other jobs; null: there are no reports.
  // `clock` must outlive the reporter.
  ProgressReporter(std::shared_ptr<ProgressSink> sink, const Clock& clock, Job job);
  // Reports a job that has not finished as given up.
  ~ProgressReporter();
  ProgressReporter(const ProgressReporter&) = delete;
  ProgressReporter& operator=(const ProgressReporter&) = delete;

  // Reports that the job has begun, which it otherwise does only after kInterval. For a job whose
  // first step may take long.
  void Announce();
  // Records how far the job is and forgets a failure. Reports it unless the last report was a
  // moment ago, or ten times as long ago as the sink took for it: a slow sink costs a job a tenth
  // of its time at most. A `done` below the last one counts as that one.
  void Update(std::uint64_t done, std::uint64_t total, std::string_view left = {});
  // The same for a job that new work may come to: what comes makes the total larger. `left` is what
  // there is to do, `words` says it.
  void UpdateLeft(std::uint64_t left, std::string_view words = {});
  // Reports that an attempt has failed and that the job goes on.
  void Fail(const Status& why);
  // Reports the end. Everything else is ignored after it, but Restart().
  void Finish(const Status& outcome = {});
  // Begins a finished job anew, as the constructor does. `why` is its failure until it makes
  // progress.
  void Restart(const Status& why = {});

  // Returns the state now.
  Progress Get() const;

 private:
  struct State {
    Progress progress;
    Clock::Monotonic next;  // The time of the next report.
    bool calling = false;   // The sink is being called.
  };

  // Waits while the sink is being called, so that reports come one after another.
  Guarded<State>::Locked WhenQuiet();
  // Takes the lock, and gives it back before the sink is called, if that is due.
  void Record(Guarded<State>::Locked state, std::uint64_t done, std::uint64_t total,
              std::string_view left);
  // Calls the sink without the lock.
  void Report(Guarded<State>::Locked state);

  const std::shared_ptr<ProgressSink> sink_;
  const Clock& clock_;
  Guarded<State> state_;
};

// Where NewProgressLog() writes to.
struct ProgressLogOptions {
  // Gets a line when a job starts, every `period` while jobs of that kind run, when one fails, and
  // when it has finished. Must outlive the sink.
  LogSink* log = &NullLogSink();
  std::chrono::nanoseconds period = std::chrono::seconds(5);
  // Counts jobs by their kinds: apiserver_progress_*. Null: nothing is counted.
  std::shared_ptr<metrics::Registry> metrics = nullptr;
  // Gets each report afterwards. Null: there is no other.
  std::shared_ptr<ProgressSink> next = nullptr;
};

// Returns a sink that logs and counts. A job that is over within a moment has one line, at its end;
// the lines of routine jobs are debug lines, but for those of failed attempts and those after
// `period`.
std::shared_ptr<ProgressSink> NewProgressLog(ProgressLogOptions options);

}  // namespace apiserver::inline v0
