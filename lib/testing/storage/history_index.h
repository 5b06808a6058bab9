#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/testing/storage/history.h"

// Indexes a history for the checks, and collects their findings.
namespace apiserver::inline v0::testing::storage {

class Findings {
 public:
  explicit Findings(std::size_t max) : max_(max) {}
  bool full() const { return found_.size() >= max_; }
  void Add(std::string property, std::string text) {
    // Limits the findings of one property, which must not hide those of others.
    if (!full() && ++counts_[property] <= kOfOneProperty) {
      found_.push_back({std::move(property), std::move(text)});
    }
  }
  std::vector<Violation> Take() { return std::move(found_); }

 private:
  static constexpr int kOfOneProperty = 4;
  std::size_t max_;
  std::map<std::string, int> counts_;
  std::vector<Violation> found_;
};

class HistoryIndex {
 public:
  explicit HistoryIndex(const History& history);

  const std::vector<LogEntry>& log() const { return history_.log; }
  // The position of the first entry above `revision`.
  std::size_t After(std::int64_t revision) const;
  // The entry at a revision. Null: there is none.
  const LogEntry* At(std::int64_t revision) const;
  // The entry that wrote a value. Null: there is none.
  const LogEntry* OfValue(std::int64_t value) const;
  // The key's entry before the one at `position`. Null: the key was absent.
  const LogEntry* Before(std::size_t position) const;
  // The positions of a key's entries.
  const std::vector<std::size_t>& OfKey(const std::string& key) const;
  // The largest revision that any client had learned before `moment`.
  std::int64_t AckedBefore(std::int64_t moment) const;
  std::int64_t AckedWriteBefore(std::int64_t moment) const;
  // The largest revision with a compaction requested by `moment`.
  std::int64_t FloorAt(std::int64_t moment) const;

 private:
  // Moment, and the largest revision so far.
  using Marks = std::vector<std::pair<std::int64_t, std::int64_t>>;
  static void Finish(Marks& marks);
  static std::int64_t LargestBefore(const Marks& marks, std::int64_t moment);

  const History& history_;
  std::map<std::string, std::vector<std::size_t>> keys_;
  std::map<std::int64_t, std::size_t> values_;
  std::vector<std::size_t> before_;
  Marks acks_;
  Marks write_acks_;
  Marks floors_;
};

bool InScope(const Scope& scope, const std::string& key);

void CheckWrites(const History& history, const HistoryIndex& index, Findings& findings);
void CheckReads(const History& history, const HistoryIndex& index, Findings& findings);
void CheckWatches(const History& history, const HistoryIndex& index, Findings& findings);
void CheckKeys(const History& history, const HistoryIndex& index, Findings& findings);

}  // namespace apiserver::inline v0::testing::storage
