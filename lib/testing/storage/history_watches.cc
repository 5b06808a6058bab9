#include <algorithm>
#include <optional>

#include "testing/storage/history_index.h"

// Checks the watches' events against the engine's log: S5, S6, S8, S9, S14. That two watches
// deliver the same events in the same order (S7) follows, since both match the log.
namespace apiserver::v0::testing::storage {
namespace {

using watch::EventType;

std::string About(const WatchRecord& record) {
  return "watch of \"" + record.scope.prefix + "\"" + (record.scope.red_only ? " (red)" : "") +
         " from " + std::to_string(record.after) + " called at " + std::to_string(record.invoked);
}

std::string SeenText(const SeenEvent& event) {
  return std::string(watch::EventTypeWord(event.type)) + " " + event.key + " at " +
         std::to_string(event.revision) + " (object " + std::to_string(event.object_revision) +
         ", value " + std::to_string(event.value) + ")";
}

// The events that a watch with `scope` must deliver, from the log.
class Expected {
 public:
  Expected(const HistoryIndex& index, const Scope& scope, std::int64_t after)
      : index_(index), scope_(scope), next_(index.After(after)) {}

  // The next event, without advancing. Nullopt: the log has no more.
  std::optional<SeenEvent> Peek() {
    for (; next_ < index_.log().size(); ++next_) {
      if (auto event = EventAt(next_)) return event;
    }
    return std::nullopt;
  }
  void Pop() { ++next_; }

 private:
  std::optional<SeenEvent> EventAt(std::size_t position) const {
    const LogEntry& entry = index_.log()[position];
    if (!InScope(scope_, entry.key)) return std::nullopt;
    const LogEntry* before = index_.Before(position);
    const bool now = !entry.deleted && (!scope_.red_only || entry.red);
    // A change of the selected label makes an addition or a deletion of an update.
    const bool was = before != nullptr && (!scope_.red_only || before->red);
    if (!now && !was) return std::nullopt;
    if (!now) {
      return SeenEvent{EventType::kDeleted, entry.key, before->value, entry.revision,
                       before->revision};
    }
    return SeenEvent{was ? EventType::kModified : EventType::kAdded, entry.key, entry.value,
                     entry.revision, entry.revision};
  }

  const HistoryIndex& index_;
  const Scope& scope_;
  std::size_t next_;
};

class WatchCheck {
 public:
  WatchCheck(const WatchRecord& record, const HistoryIndex& index, Findings& findings)
      : record_(record), index_(index), findings_(findings), position_(record.after) {}

  void Run() {
    std::size_t first = 0;
    if (record_.initial) {
      const auto end = std::find_if(record_.events.begin(), record_.events.end(),
                                    [](const SeenEvent& e) { return e.initial_events_end; });
      // The reader closed the watch before the end of the initial events.
      if (end == record_.events.end()) return CheckEnd();
      first = static_cast<std::size_t>(end - record_.events.begin()) + 1;
      CheckInitial(first - 1);
    }
    Expected expected(index_, record_.scope, position_);
    for (std::size_t i = first; i < record_.events.size(); ++i) {
      if (!CheckEvent(record_.events[i], expected)) return;
    }
    CheckEnd();
  }

 private:
  void Add(const char* property, const std::string& text) {
    findings_.Add(property, About(record_) + ": " + text);
  }

  void CheckInitial(std::size_t count) {
    // The state is that of the bookmark's revision, whichever revisions its objects have.
    position_ = record_.events[count].revision;
    if (position_ < record_.after) Add("S9", "the initial state is too old");
    if (record_.consistent && position_ < index_.AckedBefore(record_.invoked)) {
      Add("S9", "the initial state is older than what was known before");
    }
    std::map<std::string, std::int64_t> state;
    for (std::size_t i = 0; i < index_.After(position_); ++i) {
      const LogEntry& entry = index_.log()[i];
      if (!InScope(record_.scope, entry.key)) continue;
      if (entry.deleted || (record_.scope.red_only && !entry.red)) {
        state.erase(entry.key);
      } else {
        state[entry.key] = entry.revision;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const SeenEvent& event = record_.events[i];
      const auto found = state.find(event.key);
      if (event.type != EventType::kAdded || found == state.end() ||
          found->second != event.object_revision) {
        return Add("S9",
                   "not in the state at " + std::to_string(position_) + ": " + SeenText(event));
      }
      state.erase(found);
    }
    if (!state.empty()) {
      Add("S9", "the state at " + std::to_string(position_) + " also has " + state.begin()->first);
    }
  }

  bool CheckBookmark(const SeenEvent& event, Expected& expected) {
    if (event.revision < position_) {
      Add("S8", "a bookmark goes back to " + std::to_string(event.revision));
      return false;
    }
    const auto next = expected.Peek();
    // A client that resumes at the bookmark would never get this event.
    if (next && next->revision <= event.revision) {
      Add("S8", "bookmark " + std::to_string(event.revision) + " comes before " + SeenText(*next));
      return false;
    }
    position_ = event.revision;
    return true;
  }

  bool CheckEvent(const SeenEvent& event, Expected& expected) {
    if (event.type == EventType::kBookmark) return CheckBookmark(event, expected);
    const auto next = expected.Peek();
    if (!next || next->revision != event.revision) {
      Add("S5", "told " + SeenText(event) + " after " + std::to_string(position_) + ", due was " +
                    (next ? SeenText(*next) : std::string("nothing")));
      return false;
    }
    if (next->type != event.type || next->key != event.key || next->value != event.value ||
        next->object_revision != event.object_revision) {
      Add(record_.scope.red_only ? "S6" : "S5",
          "told " + SeenText(event) + " instead of " + SeenText(*next));
      return false;
    }
    position_ = event.revision;
    expected.Pop();
    return true;
  }

  void CheckEnd() {
    if (record_.end == WatchRecord::End::kHung) Add("S5", "told nothing of what was due");
    if (record_.end == WatchRecord::End::kExpired && index_.FloorAt(record_.ended) <= position_) {
      Add("S14", "has expired at " + std::to_string(position_) +
                     " although history was compacted only below " +
                     std::to_string(index_.FloorAt(record_.ended)));
    }
  }

  const WatchRecord& record_;
  const HistoryIndex& index_;
  Findings& findings_;
  std::int64_t position_;
};

}  // namespace

void CheckWatches(const History& history, const HistoryIndex& index, Findings& findings) {
  for (const WatchRecord& record : history.watches) {
    if (findings.full()) return;
    WatchCheck(record, index, findings).Run();
  }
}

}  // namespace apiserver::v0::testing::storage
