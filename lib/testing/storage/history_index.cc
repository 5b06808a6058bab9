#include "testing/storage/history_index.h"

#include <algorithm>

namespace apiserver::v0::testing::storage {
namespace {

constexpr std::size_t kNothing = SIZE_MAX;

}  // namespace

HistoryIndex::HistoryIndex(const History& history)
    : history_(history), before_(history.log.size(), kNothing) {
  for (std::size_t i = 0; i < history.log.size(); ++i) {
    const LogEntry& entry = history.log[i];
    auto& positions = keys_[entry.key];
    // After a deletion the key was absent: the next entry has none before it.
    if (!positions.empty() && !history.log[positions.back()].deleted) {
      before_[i] = positions.back();
    }
    positions.push_back(i);
    if (!entry.deleted) values_.emplace(entry.value, i);
  }
  for (const Operation& op : history.operations) {
    if (op.outcome != Operation::Outcome::kOk) continue;
    acks_.emplace_back(op.returned, op.revision);
    // A write must follow the writes acknowledged before it; a consistent read must follow what
    // other reads saw as well.
    if (op.verb != Operation::Verb::kGet) write_acks_.emplace_back(op.returned, op.revision);
  }
  for (const ReadRecord& read : history.reads) {
    if (read.failure == Reason::kUnknown && read.is_list) {
      acks_.emplace_back(read.returned, read.revision);
    }
  }
  for (const Compaction& compaction : history.compactions) {
    floors_.emplace_back(compaction.moment, compaction.revision);
  }
  Finish(acks_);
  Finish(write_acks_);
  Finish(floors_);
}

void HistoryIndex::Finish(Marks& marks) {
  std::sort(marks.begin(), marks.end());
  std::int64_t largest = 0;
  // A running maximum makes the largest revision before a moment one binary search.
  for (auto& mark : marks) mark.second = largest = std::max(largest, mark.second);
}

std::int64_t HistoryIndex::LargestBefore(const Marks& marks, std::int64_t moment) {
  const auto next = std::lower_bound(marks.begin(), marks.end(), std::pair(moment, INT64_MIN));
  return next == marks.begin() ? 0 : std::prev(next)->second;
}

std::size_t HistoryIndex::After(std::int64_t revision) const {
  const auto next =
      std::upper_bound(log().begin(), log().end(), revision,
                       [](std::int64_t r, const LogEntry& entry) { return r < entry.revision; });
  return static_cast<std::size_t>(next - log().begin());
}

const LogEntry* HistoryIndex::At(std::int64_t revision) const {
  const std::size_t after = After(revision);
  if (after == 0 || log()[after - 1].revision != revision) return nullptr;
  return &log()[after - 1];
}

const LogEntry* HistoryIndex::OfValue(std::int64_t value) const {
  const auto found = values_.find(value);
  return found == values_.end() ? nullptr : &log()[found->second];
}

const LogEntry* HistoryIndex::Before(std::size_t position) const {
  return before_[position] == kNothing ? nullptr : &log()[before_[position]];
}

const std::vector<std::size_t>& HistoryIndex::OfKey(const std::string& key) const {
  static const std::vector<std::size_t> none;
  const auto found = keys_.find(key);
  return found == keys_.end() ? none : found->second;
}

std::int64_t HistoryIndex::AckedBefore(std::int64_t moment) const {
  return LargestBefore(acks_, moment);
}

std::int64_t HistoryIndex::AckedWriteBefore(std::int64_t moment) const {
  return LargestBefore(write_acks_, moment);
}

std::int64_t HistoryIndex::FloorAt(std::int64_t moment) const {
  // A compaction requested at the moment itself counts.
  return LargestBefore(floors_, moment + 1);
}

bool InScope(const Scope& scope, const std::string& key) {
  return scope.exact ? key == scope.prefix : key.starts_with(scope.prefix);
}

std::vector<Violation> CheckHistory(const History& history, std::size_t violations_max) {
  const HistoryIndex index(history);
  Findings findings(violations_max);
  CheckWrites(history, index, findings);
  CheckReads(history, index, findings);
  CheckWatches(history, index, findings);
  CheckKeys(history, index, findings);
  return findings.Take();
}

}  // namespace apiserver::v0::testing::storage
