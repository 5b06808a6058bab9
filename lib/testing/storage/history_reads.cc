#include <algorithm>

#include "testing/storage/history_index.h"

// Checks lists and gets against the engine's log: S10, S11, S12, S13, S14.
namespace apiserver::v0::testing::storage {
namespace {

using Mode = ReadRecord::Mode;

std::string About(const ReadRecord& read) {
  constexpr const char* kModes[] = {"consistent", "any", "not older", "exact"};
  return std::string(kModes[static_cast<int>(read.mode)]) + (read.is_list ? " list" : " get") +
         " of \"" + read.scope.prefix + "\" (asked " + std::to_string(read.asked) + ", revision " +
         std::to_string(read.revision) + ", called at " + std::to_string(read.invoked) + ")";
}

const char* PropertyOf(const ReadRecord& read) {
  if (!read.start_key.empty() || !read.one_revision) return "S13";
  return read.mode == Mode::kConsistent ? "S10" : "S11";
}

// Replays the log: the objects at an ascending revision.
class Replay {
 public:
  explicit Replay(const HistoryIndex& index) : index_(index) {}
  // `revision` must not be smaller than in the call before.
  void AdvanceTo(std::int64_t revision) {
    for (; next_ < index_.log().size() && index_.log()[next_].revision <= revision; ++next_) {
      const LogEntry& entry = index_.log()[next_];
      if (entry.deleted) {
        objects_.erase(entry.key);
      } else {
        objects_[entry.key] = &entry;
      }
    }
  }
  std::vector<const LogEntry*> Matching(const Scope& scope, const std::string& start) const {
    std::vector<const LogEntry*> matching;
    for (auto i = objects_.lower_bound(start); i != objects_.end(); ++i) {
      if (!InScope(scope, i->first) || (scope.red_only && !i->second->red)) continue;
      matching.push_back(i->second);
    }
    return matching;
  }

 private:
  const HistoryIndex& index_;
  std::size_t next_ = 0;
  std::map<std::string, const LogEntry*> objects_;
};

void CompareItems(const ReadRecord& read, const std::vector<const LogEntry*>& expected,
                  Findings& findings) {
  const std::size_t count = read.items.size();
  for (std::size_t i = 0; i < count; ++i) {
    const SeenObject& item = read.items[i];
    if (i >= expected.size() || expected[i]->key != item.key) {
      findings.Add(PropertyOf(read), About(read) + " has " + item.key + " in place " +
                                         std::to_string(i) + " where the state has " +
                                         (i < expected.size() ? expected[i]->key : "nothing"));
      return;
    }
    if (expected[i]->revision != item.revision || expected[i]->value != item.value) {
      findings.Add(PropertyOf(read), About(read) + " shows " + item.key + " at " +
                                         std::to_string(item.revision) + " instead of " +
                                         std::to_string(expected[i]->revision));
      return;
    }
  }
  if (read.complete && count < expected.size()) {
    findings.Add(PropertyOf(read), About(read) + " misses " + expected[count]->key);
  }
}

void CheckRevision(const ReadRecord& read, const HistoryIndex& index, Findings& findings) {
  if (!read.one_revision) findings.Add("S13", About(read) + " has pages of several revisions");
  if (read.mode == Mode::kConsistent && read.revision < index.AckedBefore(read.invoked)) {
    findings.Add("S10", About(read) + " is older than " +
                            std::to_string(index.AckedBefore(read.invoked)) +
                            ", which was known before");
  }
  if (read.mode == Mode::kNotOlderThan && read.revision < read.asked) {
    findings.Add("S11", About(read) + " is older than it may be");
  }
  if (read.mode == Mode::kExact && read.revision != read.asked) {
    findings.Add("S11", About(read) + " is of another revision");
  }
}

void CheckFailure(const ReadRecord& read, const HistoryIndex& index, Findings& findings) {
  if (read.failure != Reason::kExpired) return;
  const std::int64_t at = read.revision != 0 ? read.revision : read.asked;
  if (index.FloorAt(read.returned) <= at) {
    findings.Add("S14", About(read) + " has expired although nothing was compacted");
  }
}

// Checks a get that need not be consistent: it must show a state at or after the requested
// revision.
void CheckGet(const ReadRecord& read, const HistoryIndex& index, Findings& findings) {
  const auto& positions = index.OfKey(read.scope.prefix);
  if (read.items.empty()) {
    // The object must have been absent at `asked` or at some time after.
    bool absent = true;
    for (const std::size_t position : positions) {
      const LogEntry& entry = index.log()[position];
      if (entry.revision <= read.asked) {
        absent = entry.deleted;
      } else if (entry.deleted) {
        absent = true;
      }
    }
    if (!absent) findings.Add("S11", About(read) + " found nothing, but the object never went");
    return;
  }
  const SeenObject& item = read.items.front();
  const LogEntry* seen = index.At(item.revision);
  if (seen == nullptr || seen->key != item.key || seen->value != item.value) {
    findings.Add("S11", About(read) + " saw what was never stored");
    return;
  }
  for (const std::size_t position : positions) {
    const LogEntry& entry = index.log()[position];
    if (entry.revision <= item.revision) continue;
    if (entry.revision <= read.asked) {
      findings.Add(read.mode == Mode::kAny ? "S12" : "S11",
                   About(read) + " saw revision " + std::to_string(item.revision) +
                       ", replaced by " + std::to_string(entry.revision));
    }
    return;
  }
}

}  // namespace

void CheckReads(const History& history, const HistoryIndex& index, Findings& findings) {
  std::vector<const ReadRecord*> lists;
  for (const ReadRecord& read : history.reads) {
    if (findings.full()) return;
    if (read.failure != Reason::kUnknown) CheckFailure(read, index, findings);
    if (!read.is_list) {
      if (read.failure == Reason::kUnknown) CheckGet(read, index, findings);
    } else if (read.revision != 0) {
      CheckRevision(read, index, findings);
      // A list that expired halfway is compared too, up to its last page.
      lists.push_back(&read);
    }
  }
  // Ascending, so that one replay of the log serves all lists.
  std::sort(lists.begin(), lists.end(),
            [](const ReadRecord* a, const ReadRecord* b) { return a->revision < b->revision; });
  Replay state(index);
  for (const ReadRecord* read : lists) {
    if (findings.full()) return;
    state.AdvanceTo(read->revision);
    CompareItems(*read, state.Matching(read->scope, read->start_key), findings);
  }
}

}  // namespace apiserver::v0::testing::storage
