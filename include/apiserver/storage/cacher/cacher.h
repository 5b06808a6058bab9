#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "apiserver/base/clock.h"
#include "apiserver/base/executor.h"
#include "apiserver/base/log.h"
#include "apiserver/base/memory_budget.h"
#include "apiserver/storage/store/store.h"

namespace apiserver::inline v0 {
class ProgressSink;
}  // namespace apiserver::inline v0

namespace apiserver::inline v0::storage::cacher {

// The limits of a watch cache, and the parts of the server that it uses.
struct Options {
  // The engine, kind and prefix of the cached objects.
  store::Options store;
  // Required. Runs the timers of bookmarks and the tasks of reads that wait for a revision. Must
  // outlive the cacher.
  Executor* executor = nullptr;
  // Limits the events kept for slow watches and for watches that resume; older ones are read from
  // the engine's log. A watch that has joined the cache and falls behind the kept events is closed,
  // and its client resumes.
  std::size_t history_events_max = 100'000;
  // The age up to which changes are kept for them, within that limit.
  std::chrono::milliseconds history_window = std::chrono::seconds(75);
  // The longest time between two bookmarks of a watch that allows them.
  std::chrono::milliseconds bookmark_interval = std::chrono::seconds(60);
  // The longest time that a read waits for a revision the cache has not seen, before kTimeout.
  std::chrono::milliseconds fresh_wait = std::chrono::seconds(3);
  // The budget that pays for the values superseded by changes; `history` of the cache counts in it.
  // Null: it is not counted, and only the two limits above hold.
  std::shared_ptr<MemoryBudget> memory;
  // A storage of the same objects under another kind, for example with another schema. The state
  // that it has in memory is taken over instead of read from the engine; it is let go then. Null:
  // the state is read.
  std::shared_ptr<Interface> predecessor;
  // Receives the progress of reading the state, a job "warm-up" of the prefix, which fails and is
  // tried again until it succeeds (base/progress.h). Must not call the storage. Shared, as it is
  // with other caches. Null: there are no reports.
  std::shared_ptr<ProgressSink> progress;
  // Called for each slow watch that is closed, on the thread that reads its stream, which may be an
  // I/O loop's: it must not block and must not call the storage. Empty: no calls.
  std::function<void()> on_slow_watch;
  LogSink* log = &NullLogSink();
};

// Returns a watch cache in front of a store: gets, lists and watches from memory, writes through.
// Over an embedded engine it observes commits, so that a consistent read need not wait.
std::unique_ptr<Interface> New(Options options);

}  // namespace apiserver::inline v0::storage::cacher
