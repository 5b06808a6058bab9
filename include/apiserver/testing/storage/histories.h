#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/testing/storage/fault_engine.h"
#include "apiserver/testing/storage/history.h"
#include "apiserver/testing/storage/storage_conformance.h"

// Runs random clients and watches of a storage, and checks with CheckHistory() what they saw. The
// seed of a failed history, which is in the report, repeats it as far as the threads' timing
// allows.
namespace apiserver::inline v0::testing::storage {

// The size and the disturbances of the histories of one run.
struct HistoryOptions {
  // The seed of the first history; each next one adds 1. It determines what each thread does, but
  // not how the threads interleave.
  std::uint64_t seed = 1;
  int histories = 1;
  int operations = 20'000;  // The total of all clients in one history.
  // Each client and each watcher is a thread.
  int clients = 8;
  // The keys in use at a time; each is replaced by a new one after some hundred operations.
  int keys = 10;
  int watchers = 4;
  // If set, the engine is compacted every 300 revisions, close behind the last write.
  bool compactions = true;
  // If set, calls of the engine are delayed, fail and lose their responses, and its tails end.
  bool faults = false;
  // How long a watch may take to deliver the last events before it counts as hung.
  std::chrono::milliseconds patience = std::chrono::seconds(15);
  // Called after each checked history with a line about it. Runs on RunHistories' thread and may
  // block. Empty: no reports.
  std::function<void(const std::string& line)> progress;
};

// The totals of a run, and the first history that broke a promise.
struct HistoryReport {
  std::uint64_t histories = 0;
  std::uint64_t operations = 0;
  std::uint64_t unknown = 0;  // Operations with an unknown outcome.
  std::uint64_t reads = 0;    // Lists, and gets that are not consistent.
  std::uint64_t watches = 0;
  std::uint64_t resumes = 0;  // Watches that resumed where an earlier one ended.
  std::uint64_t expired = 0;  // Watches and reads that expired because of a compaction.
  std::uint64_t events = 0;   // Delivered events, initial ones and bookmarks included.
  std::uint64_t compactions = 0;
  FaultCounts faults;
  // The broken promises of the first history that has any, which ends the run. Empty: all promises
  // were kept.
  std::vector<Violation> violations;
  std::uint64_t seed = 0;  // The seed of the last history.

  // A report of a few lines.
  std::string ToString() const;
};

// Runs the histories and checks them. Blocks. An error means that the storage cannot be opened,
// never gets ready or does not respond; broken promises are in the report.
Result<HistoryReport> RunHistories(const StorageHost& host, const HistoryOptions& options);

}  // namespace apiserver::inline v0::testing::storage
