#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/base/random.h"
#include "apiserver/base/sync.h"
#include "apiserver/runtime/object.h"
#include "apiserver/testing/storage/histories.h"
#include "apiserver/testing/storage/widget.h"
#include "testing/storage/bell.h"

// The state that the threads of one history share.
namespace apiserver::inline v0::testing::storage {

namespace kv = apiserver::storage::kv;

// The facts of an object that a history records.
struct Facts {
  std::int64_t value = 0;
  std::int64_t uid = 0;
  std::int64_t revision = 0;
  bool red = false;
  std::string key;  // "even/k0-1".
};
// Returns the facts of `object`; of null: no facts.
Facts FactsOf(const runtime::Object* object);

// Parses a decimal number. Zero: the text is none.
std::int64_t NumberOf(std::string_view text);

struct KeyName {
  std::string space;
  std::string name;
  std::string relative() const { return space + "/" + name; }
  std::string path() const { return "/" + relative(); }
};

class World {
 public:
  World(apiserver::storage::Interface& storage, runtime::KindPtr kind,
        const HistoryOptions& options)
      : storage(storage), kind(std::move(kind)), options(options) {
    slots_.Lock()->resize(static_cast<std::size_t>(options.keys));
  }

  std::int64_t Moment() { return ++moment_; }
  std::int64_t NewValue() { return ++value_; }
  // Records that the revision exists.
  void Learn(std::int64_t revision) {
    std::int64_t known = latest_.load();
    while (known < revision && !latest_.compare_exchange_weak(known, revision)) {
    }
  }
  std::int64_t latest() const { return latest_.load(); }
  // The key in `slot` now, for one more operation.
  KeyName KeyIn(std::size_t slot);
  // Records an operation with an unknown outcome on the key in `slot`.
  void SpoilKeyIn(std::size_t slot);

  // Makes an object with `value` as its size and its uid.
  std::unique_ptr<runtime::Object> NewObject(const KeyName& key, std::int64_t value,
                                             bool red) const;

  apiserver::storage::Interface& storage;
  const runtime::KindPtr kind;
  const HistoryOptions& options;
  const Context ctx = Context::Background();

  Guarded<History> history;
  Guarded<HistoryReport> report;
  // Set when the clients are done: the revision that every watch must still reach, and the last one
  // of the namespace "odd", which is set first.
  std::atomic<std::int64_t> last_revision{0};
  std::atomic<std::int64_t> last_odd_revision{0};

 private:
  struct Slot {
    int generation = 0;
    int operations = 0;
    int unknown = 0;
  };
  std::atomic<std::int64_t> moment_{0};
  std::atomic<std::int64_t> value_{0};
  std::atomic<std::int64_t> latest_{1};
  Guarded<std::vector<Slot>> slots_;
};

// Reads the engine's own log into a history, on its own thread.
class LogKeeper {
 public:
  static Result<std::unique_ptr<LogKeeper>> Open(kv::Engine& engine, const runtime::KindPtr& kind,
                                                 const std::string& prefix);
  ~LogKeeper();
  // The revision up to which the log has been read: a compaction there loses nothing.
  std::int64_t complete() const { return complete_.load(); }
  // Waits until everything up to `revision` has been read, and returns it.
  Result<std::vector<LogEntry>> Finish(std::int64_t revision);

 private:
  LogKeeper() = default;
  void Run();
  void Append(const kv::Event& event);

  runtime::KindPtr kind_;
  std::string prefix_;
  kv::Engine* engine_ = nullptr;
  std::shared_ptr<Bell> bell_;
  std::unique_ptr<kv::Tail> tail_;
  std::vector<LogEntry> log_;  // Belongs to the thread until that has ended.
  std::atomic<std::int64_t> complete_{0};
  std::atomic<bool> stop_{false};
  Guarded<Status> status_;
  Thread thread_;
};

// Run one client or watcher on the calling thread, and return when its work is done.
void RunClient(World& world, std::uint64_t seed, int operations);
void RunWatcher(World& world, std::uint64_t seed);
// Write the last objects, which every watch must deliver, and read the whole state in every mode.
// An error means that the storage does not respond.
Status WriteLast(World& world);
Status ReadLast(World& world);

}  // namespace apiserver::inline v0::testing::storage
