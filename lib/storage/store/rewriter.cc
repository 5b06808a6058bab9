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

  Context::Registration Add(Options options, Interface& storage) override {
    const auto entry = std::make_shared<Entry>(Entry{std::move(options), storage});
    auto state = state_.Lock();
    const std::uint64_t id = state->next_id++;
    state->entries[id] = entry;
    return Context::Registration([this, id] { Remove(id); });
  }

  Status Run(const Context& ctx, RewriteCounts& counts) override {
    {
      auto state = state_.Lock();
      state.Wait([&state] { return !state->running; });
      state->running = true;
    }
    return RunNow(ctx, counts);
  }

 private:
  struct State {
    std::map<std::uint64_t, EntryPtr> entries;
    std::uint64_t next_id = 0;
    bool running = false;  // There is one run at a time.
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

  std::vector<EntryPtr> Concerned() const {
    std::vector<EntryPtr> entries;
    {
      const auto state = state_.Lock();
      for (const auto& [id, entry] : state->entries) entries.push_back(entry);
    }
    std::erase_if(entries, [this](const EntryPtr& entry) {
      return options_.concerns && !options_.concerns(ResourceOf(*entry));
    });
    return entries;
  }

  Status RunNow(const Context& ctx, RewriteCounts& counts) {
    counts = {};
    const std::vector<EntryPtr> due = Concerned();
    Status outcome;
    if (!due.empty()) {
      Running run{ctx, counts,
                  Pace(kLooksPerRewrite * options_.rewrites_per_second_max, *options_.clock),
                  ProgressReporter(options_.progress, *options_.clock,
                                   {.what = "re-encryption", .unit = "objects"})};
      run.job.Announce();
      outcome = LookUntilNothingIsStale(run, due);
      run.job.Finish(outcome);
      LogEnd(counts, outcome);
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
      for (const EntryPtr& entry : due) {
        RETURN_IF_ERROR(Within(run, *entry, [&run, &entry](const Context& ctx) {
          const auto count = entry->storage.Count(ctx, "/");
          if (count.ok()) run.total += *count;
        }));
      }
      for (const EntryPtr& entry : due) {
        RETURN_IF_ERROR(Within(run, *entry, [&](const Context& ctx) { LookAt(ctx, run, *entry); }));
      }
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

  // Does `work` with a storage unless it was removed, which waits for the end of it and cancels the
  // Context given to it. The error is that of the run's context, or a fault.
  Status Within(const Running& run, Entry& entry, const std::function<void(const Context&)>& work) {
    const Context look = Context::Child(run.ctx);
    {
      const auto state = state_.Lock();
      if (entry.removed) return run.ctx.Err();
      entry.look = look;
    }
    Status fault;
    try {
      work(look);
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

  void LogEnd(const RewriteCounts& counts, const Status& outcome) const {
    Log(*options_.log, outcome.ok() ? LogLevel::kInfo : LogLevel::kWarning,
        outcome.ok() ? "no stored value is stale" : "stored values may be stale",
        {{"looked_at", std::to_string(counts.looked_at)},
         {"rewritten", std::to_string(counts.rewritten)},
         {"unreadable", std::to_string(counts.unreadable)},
         {"failed", std::to_string(counts.failed)},
         {"why", std::string(outcome.message())}});
  }

  const RewriterOptions options_;
  Guarded<State> state_;
};

}  // namespace

std::unique_ptr<Rewriter> NewRewriter(RewriterOptions options) {
  return std::make_unique<RewriterImpl>(std::move(options));
}

}  // namespace apiserver::v0::storage::store
