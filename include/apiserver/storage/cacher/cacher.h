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
#include "apiserver/storage/warm_up.h"

namespace apiserver::inline v0::storage::cacher {

struct Options {
  // Engine, kind and prefix of what is cached.
  store::Options store;
  // Required: runs timers for bookmarks and what waits for revisions. Must outlive the cacher.
  Executor* executor = nullptr;
  // Events kept for watches that resume, which read older ones from the engine's log, and for those
  // that are slow: a watch that has joined the cache and falls behind what is kept is closed, and
  // its client resumes.
  std::size_t history_events_max = 100'000;
  // Younger changes are kept for them, up to that many.
  std::chrono::milliseconds history_window = std::chrono::seconds(75);
  // A watch that allows bookmarks gets one at least this often.
  std::chrono::milliseconds bookmark_interval = std::chrono::seconds(60);
  // How long a read waits for a revision the cache has not seen, before kTimeout.
  std::chrono::milliseconds fresh_wait = std::chrono::seconds(3);
  // Whose share `history` counts what changes supersede; null: it is not counted, and only the two
  // limits above hold.
  std::shared_ptr<MemoryBudget> memory;
  // Told how far reading the state has come: page by page, when it is ready, and when it fails.
  // On any thread; must be quick and must not call the storage. May be empty.
  std::function<void(const WarmUp&)> on_warm_up;
  // Told of each slow watch that is closed. On its reader's thread, as on_warm_up. May be empty.
  std::function<void()> on_slow_watch;
  LogSink* log = &NullLogSink();
};

// A watch cache in front of a store: reads, lists and watches from memory, writes through. Over an
// embedded engine it observes commits, so that a consistent read waits for nothing.
std::unique_ptr<Interface> New(Options options);

}  // namespace apiserver::inline v0::storage::cacher
