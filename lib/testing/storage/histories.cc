#include "apiserver/testing/storage/histories.h"

#include <utility>

#include "base/status_macros.h"
#include "testing/storage/history_world.h"

namespace apiserver::v0::testing::storage {
namespace {

constexpr const char* kPrefix = "/registry/test.example.com/widgets";
constexpr std::int64_t kRevisionsPerCompaction = 300;
constexpr std::chrono::seconds kReadyPatience{20};
constexpr FaultPlan kFaults{.range_errors = 40,
                            .txn_errors = 60,
                            .lost_answers = 60,
                            .delays = 100,
                            .delay_max = std::chrono::microseconds(1500),
                            .tail_ends = 10};

// The engine, storage and log keeper of one history. Destroyed in the opposite order: the storage
// uses the engine until it is stopped.
class Stage {
 public:
  explicit Stage(const HistoryOptions& options) : options_(options) {}
  ~Stage() {
    // The storage's tasks run in the pool, and its tails in the engine: it stops before both.
    if (storage_ != nullptr) storage_->Stop();
    pool_->Stop();
    storage_.reset();
    keeper_.reset();
    if (engine_ != nullptr) engine_->Stop();
  }

  Status Open(const StorageHost& host) {
    ASSIGN_OR_RETURN(engine_, host.open_engine(RealClock()));
    faults_ = NewFaultEngine(*engine_);
    StorageSetup setup;
    // The storage alone sees the faults; compaction and the log keeper use the engine itself.
    setup.engine = options_.faults ? static_cast<kv::Engine*>(faults_.get()) : engine_.get();
    setup.kind = kind_;
    setup.prefix = kPrefix;
    setup.executor = pool_.get();
    setup.clock = &RealClock();
    // Short, so that a history of seconds has many bookmarks.
    setup.bookmark_interval = std::chrono::milliseconds(50);
    ASSIGN_OR_RETURN(storage_, host.open_storage(setup));
    // The keeper reads the engine itself, without faults: its log is the truth.
    ASSIGN_OR_RETURN(keeper_, LogKeeper::Open(*engine_, kind_, kPrefix));
    return WaitUntilReady();
  }

  Result<History> Run(std::uint64_t seed, HistoryReport& report) {
    World world(*storage_, kind_, options_);
    if (options_.faults) {
      FaultPlan plan = kFaults;
      plan.seed = seed;
      faults_->SetPlan(plan);
    }
    std::vector<Thread> watchers;
    watchers.reserve(static_cast<std::size_t>(options_.watchers));
    for (int i = 0; i < options_.watchers; ++i) {
      watchers.emplace_back("watcher", [&world, seed, i] {
        RunWatcher(world, seed * 1000 + 500 + static_cast<std::uint64_t>(i));
      });
    }
    RunClients(world, seed);
    // The last write and read must succeed: without them nothing says when a watch is complete.
    faults_->SetPlan({});
    const Status written = WriteLast(world);
    // Watchers wait for the last revision, and must not wait for ever.
    if (!written.ok()) world.last_revision = INT64_MAX;
    watchers.clear();
    RETURN_IF_ERROR(written);
    RETURN_IF_ERROR(ReadLast(world));
    History history = std::move(*world.history.Lock());
    ASSIGN_OR_RETURN(history.log, keeper_->Finish(world.last_revision));
    report.resumes += world.report.Lock()->resumes;
    return history;
  }

  FaultCounts fault_counts() const { return faults_->counts(); }

 private:
  Status WaitUntilReady() {
    const auto deadline = RealClock().Now() + kReadyPatience;
    Bell pause;
    for (;;) {
      const auto list = storage_->GetList(Context::Background(), "/", {});
      if (list.ok()) return {};
      if (RealClock().Now() > deadline) return list.status();
      (void)pause.Wait(std::chrono::milliseconds(20));
    }
  }

  void RunClients(World& world, std::uint64_t seed) {
    std::atomic<bool> done = false;
    Thread compactor;
    if (options_.compactions) {
      compactor = Thread("compactor", [&] { Compact(world, seed, done); });
    }
    std::vector<Thread> clients;
    clients.reserve(static_cast<std::size_t>(options_.clients));
    for (int i = 0; i < options_.clients; ++i) {
      clients.emplace_back("client", [this, &world, seed, i] {
        RunClient(world, seed * 1000 + static_cast<std::uint64_t>(i),
                  options_.operations / options_.clients);
      });
    }
    clients.clear();
    done = true;
  }

  // Compacts behind the log keeper only: it must read the whole log, which all checks compare with.
  void Compact(World& world, std::uint64_t seed, const std::atomic<bool>& done) {
    const auto random = NewSeededRandom(seed * 1000 + 999);
    Bell pause;
    std::int64_t last = 0;
    while (!done) {
      (void)pause.Wait(std::chrono::milliseconds(1));
      const std::int64_t complete = keeper_->complete();
      if (complete - last < kRevisionsPerCompaction) continue;
      last = complete;
      // A little behind the end, so that some clients and watches are too old and others are not.
      const std::int64_t at = complete - static_cast<std::int64_t>(random->Below(120));
      world.history.Lock()->compactions.push_back({world.Moment(), at});
      (void)engine_->Compact(Context::Background(), at);
    }
  }

  const HistoryOptions& options_;
  const runtime::KindPtr kind_ = NewWidgetKind();
  std::unique_ptr<ThreadPool> pool_ = NewThreadPool({"storage", 2});
  std::unique_ptr<kv::Engine> engine_;
  std::unique_ptr<FaultEngine> faults_;
  std::unique_ptr<apiserver::storage::Interface> storage_;
  std::unique_ptr<LogKeeper> keeper_;
};

void Count(const History& history, HistoryReport& report) {
  ++report.histories;
  report.operations += history.operations.size();
  report.reads += history.reads.size();
  report.watches += history.watches.size();
  report.compactions += history.compactions.size();
  for (const Operation& op : history.operations) {
    if (op.outcome == Operation::Outcome::kUnknown) ++report.unknown;
  }
  for (const ReadRecord& read : history.reads) {
    if (read.failure == Reason::kExpired) ++report.expired;
  }
  for (const WatchRecord& record : history.watches) {
    report.events += record.events.size();
    if (record.end == WatchRecord::End::kExpired) ++report.expired;
  }
}

void Count(const FaultCounts& counts, FaultCounts& all) {
  all.errors += counts.errors;
  all.lost_answers += counts.lost_answers;
  all.delays += counts.delays;
  all.tail_ends += counts.tail_ends;
}

}  // namespace

Result<HistoryReport> RunHistories(const StorageHost& host, const HistoryOptions& options) {
  HistoryReport report;
  for (int i = 0; i < options.histories; ++i) {
    report.seed = options.seed + static_cast<std::uint64_t>(i);
    Stage stage(options);
    RETURN_IF_ERROR(stage.Open(host));
    ASSIGN_OR_RETURN(const History history, stage.Run(report.seed, report));
    Count(history, report);
    Count(stage.fault_counts(), report.faults);
    report.violations = CheckHistory(history);
    if (options.progress) {
      options.progress("seed " + std::to_string(report.seed) + ": " +
                       std::to_string(history.log.size()) + " writes, " +
                       std::to_string(report.events) + " events so far, " +
                       std::to_string(report.violations.size()) + " violations");
    }
    // The report belongs to one history, whose seed repeats it.
    if (!report.violations.empty()) break;
  }
  return report;
}

std::string HistoryReport::ToString() const {
  std::string text;
  const auto line = [&text](const char* what, std::uint64_t count) {
    text += std::string(what) + ": " + std::to_string(count) + "\n";
  };
  line("histories", histories);
  line("operations", operations);
  line("  of unknown outcome", unknown);
  line("lists and old gets", reads);
  line("watches", watches);
  line("  resumed", resumes);
  line("events validated", events);
  line("compactions", compactions);
  line("  watches and reads expired", expired);
  line("injected errors", faults.errors);
  line("injected lost answers", faults.lost_answers);
  line("injected delays", faults.delays);
  line("injected ends of tails", faults.tail_ends);
  line("violations", violations.size());
  for (const Violation& violation : violations) {
    text += "  " + violation.property + " (seed " + std::to_string(seed) + "): " + violation.text +
            "\n";
  }
  return text;
}

}  // namespace apiserver::v0::testing::storage
