#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "apiserver/base/clock.h"
#include "apiserver/base/context.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/base/random.h"
#include "apiserver/base/status.h"
#include "apiserver/rest/storage.h"
#include "apiserver/runtime/kind.h"

// Serves objects that are computed or found rather than stored: sensors, processes, the state of
// another system. Clients see what registry.Store shows them. Go has no counterpart. A store whose
// clients may also write, or whose data reports its changes, is a source store: source_store.h.
namespace apiserver::inline v0::registry {

// The options of a polling store.
struct PollingOptions {
  // The whole set of objects.
  using Objects = std::vector<std::unique_ptr<runtime::Object>>;
  // Required. Returns all existing objects, made anew at every poll, in the kind's hub version,
  // each with a unique name (and namespace if the kind is namespaced). Called on the executor, by
  // one thread at a time; may block until the Context is done. An error leaves the
  // objects as they were and is logged; until a first poll succeeds the store is not ready.
  //
  // An object keeps its uid and creationTimestamp as long as it is found. The store makes them
  // where the poll gives none. The poll must not give managedFields; a resourceVersion is ignored.
  std::function<Result<Objects>(const Context&)> poll = nullptr;
  // Required. The kind of the objects.
  runtime::KindPtr kind = nullptr;
  // The time between the end of a poll and the next. Zero: only Poll() polls.
  std::chrono::milliseconds interval = std::chrono::seconds(1);
  // Required. Runs the polls, so blocking must be allowed there. Must outlive the store.
  // GenericAPIServer::pool() fits.
  Executor* executor = nullptr;
  // The columns of `kubectl get`. Null: the columns of the kind's version, or Name and Created At.
  std::shared_ptr<const rest::TableConvertor> table_convertor = nullptr;
  // The same as StoreOptions::functions_inline.
  bool functions_inline = false;

  // The history that can be watched and listed at least. Requests for older revisions get 410
  // unless the watch cache still has them. Zero: no limit.
  std::size_t history_events_max = 100'000;
  std::chrono::seconds history_window = std::chrono::minutes(5);
  // The same as StorageConfig::memory.
  std::shared_ptr<MemoryBudget> memory = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// A read-only store over a function that is polled. The differences between two polls become ADDED,
// MODIFIED and DELETED events. Reads work as for a stored resource: resourceVersion in all its
// meanings, pages, selectors, bookmarks, sendInitialEvents, 410 for revisions that are too old. An
// object that a poll finds unchanged keeps its resourceVersion.
//
// resourceVersions begin with the time of the start in microseconds, so that those of a restarted
// process are newer than all before; the earlier ones are too old then.
//
// Reads show the last poll; they do not poll.
class PollingStore : public rest::Storage,
                     public rest::Scoper,
                     public rest::SingularNameProvider,
                     public rest::ShortNamesProvider,
                     public rest::CategoriesProvider,
                     public rest::Getter,
                     public rest::Lister,
                     public rest::Watcher,
                     public rest::InlineReader,
                     public rest::StorageWithReadiness,
                     public rest::StatsProvider {
 public:
  // Polls at once, besides the interval, and returns when watches can see the changes: for tests,
  // and for hosts that are told of changes. Returns the error of the poll, or of an object that
  // cannot be served. Any thread that may block: it blocks while another poll runs.
  virtual Status Poll(const Context& ctx) = 0;
};

// Makes a store and starts its first poll unless the interval is zero. kInvalid: a required option
// is missing, or the path of a column or of a selectable field leads to nothing that the kind's
// schema has.
Result<std::shared_ptr<PollingStore>> NewPollingStore(PollingOptions options);

}  // namespace apiserver::inline v0::registry
