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

// Serves what is computed or found out rather than stored: sensors, processes, the state of another
// system. Go has no counterpart; what clients see is what registry.Store shows them.
namespace apiserver::inline v0::registry {

struct PollingOptions {
  // All there is now.
  using Objects = std::vector<std::unique_ptr<runtime::Object>>;
  // Required. Made anew at every poll, in the kind's hub version, each with a name (and a namespace
  // if the kind is namespaced) of its own. Called from the executor, by one thread at a time; may
  // wait until the Context is done. An error leaves everything as it was; it is logged, and the
  // store is not ready until a first poll succeeds.
  //
  // An object keeps uid and creationTimestamp as long as it is found; where the poll gives none,
  // the store does. resourceVersion and managedFields are not the poll's to give.
  std::function<Result<Objects>(const Context&)> poll = nullptr;
  // Required.
  runtime::KindPtr kind = nullptr;
  // Between the end of a poll and the next. Zero: only Poll() polls.
  std::chrono::milliseconds interval = std::chrono::seconds(1);
  // Required; waiting must be allowed there. Must outlive the store: GenericAPIServer::pool().
  Executor* executor = nullptr;
  // Columns of `kubectl get`; null: the columns of the kind's version, or Name and Created At.
  std::shared_ptr<const rest::TableConvertor> table_convertor = nullptr;
  // As StoreOptions::functions_inline.
  bool functions_inline = false;

  // How much of the past can be watched from; older versions are answered with 410. Zero: no limit.
  std::size_t history_events_max = 100'000;
  std::chrono::seconds history_window = std::chrono::minutes(5);
  // As StorageConfig::memory.
  std::shared_ptr<MemoryBudget> memory = nullptr;
  const Clock* clock = &RealClock();
  Random* random = &SecureRandom();
  LogSink* log = &NullLogSink();
};

// Get, list and watch of what a function returns: it is polled, what has changed since becomes
// ADDED, MODIFIED and DELETED, and everything a client may ask of a stored resource works as there:
// resourceVersion in all its meanings, pages, selectors, bookmarks, sendInitialEvents, 410 for what
// is too old. An object that a poll finds unchanged keeps its resourceVersion.
//
// resourceVersions begin with the time of the start in microseconds, so that those of a process
// that was started anew are newer than all before; what its predecessor gave out is too old.
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
  // Polls now, besides the interval, and returns once watches can see what changed: for tests, and
  // for hosts that hear of changes. The poll's error, or that of an object that cannot be served.
  virtual Status Poll(const Context& ctx) = 0;
};

// The first poll begins at once. kInvalid: a required option is missing.
Result<std::shared_ptr<PollingStore>> NewPollingStore(PollingOptions options);

}  // namespace apiserver::inline v0::registry
