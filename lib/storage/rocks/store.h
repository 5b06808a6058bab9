#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/storage/kv/engine.h"
#include "apiserver/storage/kv/observers.h"
#include "apiserver/storage/rocks/engine.h"
#include "storage/index/btree.h"
#include "storage/index/event_log.h"
#include "storage/index/keyed.h"
#include "storage/index/ref.h"
#include "storage/kv/call_gate.h"
#include "storage/rocks/database.h"

// The parts that the engine's classes share: the index of live keys, the latest changes, the
// database.
namespace apiserver::inline v0::storage::rocks {

// A key that exists, without its value.
struct LiveKey final : index::Keyed<LiveKey> {
  Revision create_revision = 0;
  Revision mod_revision = 0;
  kv::LeaseId lease = 0;
  std::size_t bytes = 0;  // The size of the value.

  kv::KeyValue WithValue(kv::Bytes value) const {
    kv::KeyValue kv;
    kv.key = key();
    kv.value = std::move(value);
    kv.create_revision = create_revision;
    kv.mod_revision = mod_revision;
    kv.lease = lease;
    return kv;
  }
};
using LiveRef = index::Ref<const LiveKey>;
struct LiveKeyOf {
  std::string_view operator()(const LiveRef& live) const { return live->key(); }
};
using LiveTree = index::BTree<LiveRef, LiveKeyOf>;

// One event of a committed batch, which all its readers share.
using Events = std::shared_ptr<const std::vector<kv::Event>>;
struct Change {
  Events events;
  std::size_t at = 0;

  const kv::Event& event() const { return (*events)[at]; }
};
struct ChangeAccess {
  static kv::Revision Revision(const Change& change) { return change.event().kv.mod_revision; }
  static std::string_view Key(const Change& change) { return change.event().kv.key; }
};
using ChangeLog = index::EventLog<Change, ChangeAccess>;

// The values of the latest revisions, each of which is one event.
class RecentValues {
 public:
  RecentValues(std::size_t bytes_max, std::size_t events_max)
      : bytes_max_(bytes_max), events_max_(events_max) {}

  void Add(const std::vector<kv::Event>& events);
  // Returns the value of a revision. Null: it is not here.
  kv::Bytes Find(Revision revision) const;
  // Returns the oldest revision that is here.
  Revision first() const { return first_; }

 private:
  static std::size_t Size(const kv::Bytes& value) { return value == nullptr ? 0 : value->size(); }

  const std::size_t bytes_max_;
  const std::size_t events_max_;
  std::deque<kv::Bytes> values_;
  Revision first_ = 0;
  std::size_t bytes_ = 0;
};

// The state that readers see. Only the committer changes it, in one lock for a whole batch.
struct State {
  LiveTree live;
  Revision revision = 1;
  Revision compacted = 0;
  std::size_t bytes = 0;
  std::size_t history_bytes = 0;
  Status broken;  // The reason why nothing can be written. OK: writes work.
};

// The open database; empty while it is opened anew.
class DatabaseSlot {
 public:
  // Null: it is closed.
  std::shared_ptr<Database> Get() const { return *open_.Lock(); }
  void Set(std::unique_ptr<Database> database);
  // Takes the database away and waits until its last reader is done and it is closed.
  void Close();

 private:
  Guarded<std::shared_ptr<Database>> open_;
  Guarded<bool> closed_{true};
};

struct Store {
  Store(Options o, rocksdb::Env& e) : options(std::move(o)), env(e) {}

  // Returns the database for one read. kServiceUnavailable: it is being opened anew after an error
  // of the disk.
  Result<std::shared_ptr<Database>> Reading() const;
  // Opens the database; it is not in the slot yet.
  Result<std::unique_ptr<Database>> OpenDatabase();

  const Options options;
  rocksdb::Env& env;
  // Called when RocksDB's own threads fail; set by the committer.
  Guarded<std::function<void()>> on_failure;
  // Counts the running calls.
  kv::CallGate gate;
  // Closed once the gate is shut, and by the committer when it must be opened anew.
  DatabaseSlot database;
  Guarded<State> state;
  kv::Observers observers;
  Guarded<RecentValues> recent{options.recent_bytes_max, options.recent_events_max};
  std::shared_ptr<ChangeLog> log;  // Reaches as far back as `recent`.
};

// Returns the value of one version, from memory or disk. kNotFound: it is not kept any more.
Result<kv::Bytes> LoadValue(const Store& store, std::string_view key, Revision revision);

}  // namespace apiserver::inline v0::storage::rocks
