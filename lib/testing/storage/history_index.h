#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/testing/storage/history.h"

// A history made searchable, and where what is wrong with it is collected.
namespace apiserver::inline v0::testing::storage {

class Findings {
 public:
  explicit Findings(std::size_t max) : max_(max) {}
  bool full() const { return found_.size() >= max_; }
  void Add(std::string property, std::string text) {
    // Many of one kind must not hide the others.
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
  // Position of the first entry above `revision`.
  std::size_t After(std::int64_t revision) const;
  // Null: there is none.
  const LogEntry* At(std::int64_t revision) const;
  const LogEntry* OfValue(std::int64_t value) const;
  // What the key held before the entry at `position`; null: nothing.
  const LogEntry* Before(std::size_t position) const;
  // Positions of a key's entries.
  const std::vector<std::size_t>& OfKey(const std::string& key) const;
  // The largest revision that anyone had been told of before `moment`.
  std::int64_t AckedBefore(std::int64_t moment) const;
  std::int64_t AckedWriteBefore(std::int64_t moment) const;
  // The largest revision at which a compaction had been asked for by `moment`.
  std::int64_t FloorAt(std::int64_t moment) const;

 private:
  using Marks = std::vector<std::pair<std::int64_t, std::int64_t>>;  // Moment, largest so far.
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
