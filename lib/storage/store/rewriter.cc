#include "apiserver/storage/store/rewriter.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/progress.h"
#include "apiserver/base/sync.h"
#include "base/status_macros.h"
#include "storage/store/pace.h"
#include "storage/store/stale_walk.h"

namespace apiserver::v0::storage::store {
namespace {

// One look finds what was stale; the next one what was on its way to the engine when the keys
// changed. If another one still finds something, somebody keeps writing it.
constexpr int kLooksMax = 4;
// Values that are left as they are and have a line in the log each; the others are only counted.
constexpr std::size_t kNamedMax = 20;

// A storage whose values are looked at.
struct Entry {
  Options options;
  Interface& storage;
  bool due = false;
  bool removed = false;
  // The look that goes on. nullopt: there is none.
  std::optional<Context> look;
};
using EntryPtr = std::shared_ptr<Entry>;

runtime::GroupResource ResourceOf(const Entry& entry) {
  return {entry.options.kind->group(), entry.options.kind->plural()};
}

std::string ValuesText(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " value" : " values");
}

class RewriterImpl final : public Rewriter {
 public:
  explicit RewriterImpl(RewriterOptions options) : options_(std::move(options)) {}
  ~RewriterImpl() override { Stop(); }

  Context::Registration Add(Options options, Interface& storage) override {
    const auto entry = std::make_shared<Entry>(Entry{std::move(options), storage});
    auto state = state_.Lock();
    const std::uint64_t id = state->next_id++;
    state->entries[id] = entry;
    entry->due = state->started;
    state_.NotifyAll();
    return Context::Registration([this, id] { Remove(id); });
  }

  void Start() override {
    auto state = state_.Lock();
    if (state->stopped) return;
    state->started = true;
    AskForAll(*state);
    if (!state->thread.joinable()) {
      state->thread = Thread("re-encryption", [this] { RunWhatIsDue(); });
    }
    state_.NotifyAll();
  }

  Status Run(const Context& ctx, RewriteCounts& counts) override {
    {
      auto state = state_.Lock();
      state.Wait([&state] { return !state->running; });
      state->running = true;
      AskForAll(*state);
    }
    return RunDue(ctx, counts);
  }

  void Stop() override {
    Thread thread;
    {
      auto state = state_.Lock();
      state->stopped = true;
      std::swap(thread, state->thread);
    }
    stop_.Cancel({Reason::kServiceUnavailable, "the server is stopping"});
    state_.NotifyAll();
    thread.Join();
  }

 private:
  struct State {
    std::map<std::uint64_t, EntryPtr> entries;
    std::uint64_t next_id = 0;
    bool started = false;  // There has been a Start().
    bool stopped = false;
    bool running = false;  // There is one run at a time.
    bool asked = false;    // A run over all storages is due, not one for what was added.
    Thread thread;
  };

  // The parts of one run.
  struct Running {
    const Context& ctx;
    RewriteCounts& counts;
    Pace pace;
    ProgressReporter job;
    std::uint64_t total = 0;  // The values to look at, as far as known.
    std::set<std::string> named;
  };

  static void AskForAll(State& state) {
    state.asked = true;
    for (const auto& [id, entry] : state.entries) entry->due = true;
  }

  void Remove(std::uint64_t id) {
    EntryPtr entry;
    std::optional<Context> look;
    {
      const auto state = state_.Lock();
      const auto found = state->entries.find(id);
      entry = found->second;
      state->entries.erase(found);
      entry->removed = true;
      look = entry->look;
    }
    if (!look) return;
    look->Cancel({Reason::kServiceUnavailable, "the storage is closed"});
    state_.Lock().Wait([&entry] { return !entry->look; });
  }

  // The body of the thread.
  void RunWhatIsDue() {
    for (;;) {
      {
        auto state = state_.Lock();
        state.Wait([&state] { return state->stopped || (!state->running && IsDue(*state)); });
        if (state->stopped) return;
        state->running = true;
      }
      RewriteCounts counts;
      (void)RunDue(stop_, counts);  // It is reported and logged.
    }
  }

  static bool IsDue(const State& state) {
    for (const auto& [id, entry] : state.entries) {
      if (entry->due) return true;
    }
    return false;
  }

  // Takes the storages that are due now.
  std::vector<EntryPtr> TakeDue(bool& asked) {
    std::vector<EntryPtr> due;
    {
      const auto state = state_.Lock();
      asked = std::exchange(state->asked, false);
      for (const auto& [id, entry] : state->entries) {
        if (std::exchange(entry->due, false)) due.push_back(entry);
      }
    }
    std::erase_if(due, [this](const EntryPtr& entry) {
      return options_.concerns && !options_.concerns(ResourceOf(*entry));
    });
    return due;
  }

  Status RunDue(const Context& ctx, RewriteCounts& counts) {
    counts = {};
    bool asked = false;
    const std::vector<EntryPtr> due = TakeDue(asked);
    Status outcome;
    if (!due.empty()) {
      Running run{
          ctx, counts, Pace(kLooksPerRewrite * options_.rewrites_per_second_max, *options_.clock),
          ProgressReporter(options_.progress, *options_.clock,
                           {.what = "re-encryption", .unit = "objects", .routine = !asked})};
      run.job.Announce();
      outcome = LookUntilNothingIsStale(run, due);
      run.job.Finish(outcome);
      LogEnd(counts, outcome, asked);
    }
    state_.Lock()->running = false;
    state_.NotifyAll();
    return outcome;
  }

  Status LookUntilNothingIsStale(Running& run, const std::vector<EntryPtr>& due) {
    for (int look = 0; look < kLooksMax; ++look) {
      const std::uint64_t before = run.counts.rewritten;
      // The last look tells what is left.
      run.counts.unreadable = run.counts.failed = 0;
      RETURN_IF_ERROR(WithinAll(run, due, [&run](const Context& ctx, const Entry& entry) {
        const auto count = entry.storage.Count(ctx, "/");
        if (count.ok()) run.total += *count;
      }));
      RETURN_IF_ERROR(WithinAll(run, due, [this, &run](const Context& ctx, const Entry& entry) {
        LookAt(ctx, run, entry);
      }));
      if (run.counts.rewritten == before) return Outcome(run.counts);
    }
    return {Reason::kInternalError,
            "somebody keeps writing stale values: does another server use other keys?"};
  }

  static Status Outcome(const RewriteCounts& counts) {
    if (counts.unreadable == 0 && counts.failed == 0) return {};
    return {Reason::kInternalError, "left as they are: " + ValuesText(counts.unreadable) +
                                        " that cannot be read, " + ValuesText(counts.failed) +
                                        " that cannot be written"};
  }

  using Work = std::function<void(const Context&, const Entry&)>;
  Status WithinAll(const Running& run, const std::vector<EntryPtr>& entries, const Work& work) {
    for (const EntryPtr& entry : entries) RETURN_IF_ERROR(Within(run, *entry, work));
    return {};
  }

  // Does `work` with a storage unless it was removed, which waits for the end of it and cancels the
  // Context given to it. The error is that of the run's context, or a fault.
  Status Within(const Running& run, Entry& entry, const Work& work) {
    const Context look = Context::Child(run.ctx);
    {
      const auto state = state_.Lock();
      if (entry.removed) return run.ctx.Err();
      entry.look = look;
    }
    Status fault;
    try {
      work(look, entry);
    } catch (const std::exception& thrown) {
      // A host's code converts between versions.
      fault = Status(Reason::kInternalError, thrown.what());
    }
    // The storage and the engine may be destroyed as soon as this is known.
    {
      const auto state = state_.Lock();
      entry.look.reset();
    }
    state_.NotifyAll();
    return fault.ok() ? run.ctx.Err() : fault;
  }

  void LookAt(const Context& ctx, Running& run, const Entry& entry) const {
    // The error is that of a run that ends, or of a storage that is closed: then it needs no look.
    (void)WalkStale(ctx, {.store = entry.options,
                          .storage = entry.storage,
                          .page_objects_max = options_.page_objects_max,
                          .pace = run.pace,
                          .counts = run.counts,
                          .on_value = [&run] { Tell(run); },
                          .on_left = [this, &run](const std::string& key,
                                                  const Status& why) { Name(run, key, why); },
                          .on_failure = [&run](const Status& why) { run.job.Fail(why); }});
  }

  static void Tell(Running& run) {
    const std::uint64_t done = run.counts.looked_at;
    run.job.Update(done, std::max(done, run.total));
  }

  void Name(Running& run, const std::string& key, const Status& why) const {
    if (run.named.size() >= kNamedMax || !run.named.insert(key).second) return;
    Log(*options_.log, LogLevel::kWarning, "re-encryption leaves a value as it is",
        {{"key", key}, {"why", std::string(why.message())}});
  }

  void LogEnd(const RewriteCounts& counts, const Status& outcome, bool asked) const {
    LogLevel level = outcome.ok() ? LogLevel::kInfo : LogLevel::kWarning;
    if (outcome.ok() && !asked && counts.rewritten == 0) level = LogLevel::kDebug;
    std::vector<LogField> fields{{"looked_at", std::to_string(counts.looked_at)},
                                 {"rewritten", std::to_string(counts.rewritten)},
                                 {"unreadable", std::to_string(counts.unreadable)},
                                 {"failed", std::to_string(counts.failed)}};
    if (!outcome.ok()) fields.push_back({"why", std::string(outcome.message())});
    if (!options_.log->Enabled(level)) return;
    options_.log->Write(
        level, outcome.ok() ? "no stored value is stale" : "stored values may be stale", fields);
  }

  const RewriterOptions options_;
  const Context stop_ = Context::Child(Context::Background());
  Guarded<State> state_;
};

}  // namespace

std::unique_ptr<Rewriter> NewRewriter(RewriterOptions options) {
  return std::make_unique<RewriterImpl>(std::move(options));
}

}  // namespace apiserver::v0::storage::store
