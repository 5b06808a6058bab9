#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiextensions/control/facts.h"
#include "apiextensions/control/name_index.h"
#include "apiextensions/control/status_owner.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/metrics.h"
#include "apiserver/base/sync.h"
#include "apiserver/controller/controller.h"
#include "apiserver/controller/work_queue.h"
#include "apiserver/meta/watch.h"
#include "apiserver/registry/store.h"

namespace apiserver::inline v0::apiextensions {

// A DefinitionUser needs the definitions as they are now, such as what serves their objects.
class DefinitionUser {
 public:
  virtual ~DefinitionUser() = default;
  // A definition is there, or has changed. Called in the order of the changes, one call at a time,
  // on a thread that may block but should not for long: a write of a definition waits for it.
  // `content` is that of the definition in v1, and lives as long as the call.
  virtual void Set(const FactsPtr& facts, const runtime::Object& content) = 0;
  // The names of a definition are about to be accepted; Set() follows. Called like Set().
  virtual void Announce(const FactsPtr& facts) = 0;
  // A definition has gone.
  virtual void Remove(const std::string& name) = 0;
};

// Says how the deletion of a definition's objects ended.
struct Emptied {
  enum class State { kEmpty, kNotYet, kCannotList, kCannotDelete };
  State state = State::kEmpty;
  std::string why = {};
};

// Follows the CustomResourceDefinitions of a store, tells its users of them, and does what
// upstream's controllers of apiextensions do: accepts names, establishes, judges approvals, and
// deletes the objects of what is deleted. It has no thread of its own and does nothing while
// nothing changes. All methods may be called from any thread.
class Controller final : public Wakeable, public std::enable_shared_from_this<Controller> {
 public:
  struct Needs {
    std::shared_ptr<registry::Store> definitions;
    Executor* pool = nullptr;  // Runs all work, which may block. Must outlive this.
    const Clock* clock = nullptr;
    LogSink* log = nullptr;
    std::vector<DefinitionUser*> users;  // They must outlive Stop().
    // Counts the work queues. Null: nothing is counted.
    std::shared_ptr<metrics::Registry> metrics = nullptr;
    // Deletes the objects of a definition; blocks. Called again until there are none.
    std::function<Emptied(const Context&, const FactsPtr&)> empty;
    // Changes the status of a definition beyond what is done here; returns whether it has. Called
    // with each change of a definition, on a thread that may block.
    std::vector<std::function<bool(runtime::Object&)>> judges = {};
    // Tells if a definition may be established although its names are accepted. Empty: it may.
    std::function<bool(const runtime::Object&)> may_establish = nullptr;
  };
  explicit Controller(Needs needs);
  ~Controller() override { Stop(); }

  // Begins to follow the store.
  void Start();
  // Ends all work and waits for what is running. Idempotent.
  void Stop();
  // True once all definitions have been told to the users.
  bool synced() const { return synced_.HasBeenNotified(); }
  // Waits for that, at most `timeout`.
  bool WaitForSync(std::chrono::milliseconds timeout) const { return synced_.WaitFor(timeout); }
  // Tells the users of all changes that the store has told of. After a write over an embedded
  // engine they include that write. May block.
  void CatchUp();
  // Lets the work be done that CatchUp() has found.
  void Kick();

  void OnWake() override;

 private:
  // The intake of events. Its lock is held while users are told.
  struct Intake {
    std::unique_ptr<watch::Stream> stream;
    std::set<std::string> seen;  // The definitions of a state that is being read.
    bool reading = false;        // The state is being read.
    bool stopped = false;
  };
  struct State {
    std::map<std::string, FactsPtr> known;
    std::set<std::string> emptying;  // Their objects are being deleted, or will be again.
  };
  // The state of the worker: one thread at a time.
  struct Work {
    std::size_t calls = 0;  // Of Run() that are not served yet; the first one works.
    bool stopped = false;
  };
  using Edit = std::function<bool(runtime::Object&)>;

  void TakeAll(Intake& intake);
  void Take(const watch::Event& event, Intake& intake);
  bool Open(Intake& intake);
  void Forget(const std::string& name);
  void Enqueue(const std::vector<std::string>& names);
  void RunLater();
  void Run();
  void WorkThrough();
  FactsPtr Find(const std::string& name) const;
  // Does what the definition needs. One thread at a time.
  void Sync(const std::string& name);
  bool Judged(const Facts& facts) const;
  // Accepts names, and establishes with the same write what may be: each write of a definition
  // costs its encoding and a reading by all who watch. Upstream's controllers write one by one.
  bool SyncNames(const FactsPtr& facts);
  // Tells the users of names that are about to be accepted.
  void Announce(const FactsPtr& facts, const NameIndex::Verdict& verdict);
  bool Establish(runtime::Object& definition, std::chrono::system_clock::time_point now) const;
  // Writes what `edit` changes of a definition. False: nothing, or it could not be written.
  bool Write(const Facts& facts, const Edit& edit);
  void BeginEmptying(const FactsPtr& facts);
  // Deletes the objects of a definition that goes, and then the definition. False: some are there.
  bool Empty(const std::string& name);
  bool Finish(const FactsPtr& facts, std::string_view reason, std::string_view message);
  void Delete(const Facts& facts);
  // Makes the controller of what is being emptied, on the pool.
  std::unique_ptr<controller::Controller> NewEmptying();

  const Needs needs_;
  const Context ctx_;  // Cancelled by Stop().
  const StatusOwner owner_;
  Guarded<Intake> intake_;
  Guarded<State> state_;
  Guarded<Work> work_;
  Guarded<NameIndex> names_;
  Notification synced_;
  const std::unique_ptr<controller::WorkQueue> queue_;  // The definitions to sync.
  const std::unique_ptr<controller::Controller> emptying_;
};

}  // namespace apiserver::inline v0::apiextensions
