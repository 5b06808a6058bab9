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

// Random clients and watches of a storage, and the judgement of CheckHistory() over what they saw.
namespace apiserver::inline v0::testing::storage {

struct HistoryOptions {
  // Of the first history; the next ones have the next numbers. What each thread does follows from
  // it, not how the threads interleave.
  std::uint64_t seed = 1;
  int histories = 1;
  int operations = 20'000;  // Of each history, all clients together.
  int clients = 8;
  int keys = 10;  // At a time; they are replaced by new ones after some hundred operations.
  int watchers = 4;
  bool compactions = true;
  // Calls of the engine are delayed, fail and lose their answers, and its tails end.
  bool faults = false;
  // How long a watch may take to tell of the last events before it counts as hung.
  std::chrono::milliseconds patience = std::chrono::seconds(15);
  // Told of every history that has been checked; may be empty.
  std::function<void(const std::string& line)> progress;
};

struct HistoryReport {
  std::uint64_t histories = 0;
  std::uint64_t operations = 0;
  std::uint64_t unknown = 0;  // Operations whose outcome nobody knows.
  std::uint64_t reads = 0;    // Lists, and gets that may be old.
  std::uint64_t watches = 0;
  std::uint64_t resumes = 0;  // Watches that went on where one before them was.
  std::uint64_t expired = 0;  // Watches and reads that fell to a compaction.
  std::uint64_t events = 0;   // That watches told, initial ones and bookmarks included.
  std::uint64_t compactions = 0;
  FaultCounts faults;
  // Empty: nothing is wrong. Else of the first history that has any, which is the last one run.
  std::vector<Violation> violations;
  std::uint64_t seed = 0;  // Of that history.

  // A few lines.
  std::string ToString() const;
};

// An error when the storage cannot be opened or never gets ready, not when it is wrong.
Result<HistoryReport> RunHistories(const StorageHost& host, const HistoryOptions& options);

}  // namespace apiserver::inline v0::testing::storage
