#include "faults/members_history.h"

#include <charconv>
#include <set>
#include <unordered_map>

namespace apiserver::inline v0::faults {
namespace {

using WriteOutcome = MemberWrite::Outcome;

std::string TextOf(const Change& change) {
  return (change.value == 0 ? "delete of " : "write of ") + change.key +
         (change.value == 0 ? "" : " = " + std::to_string(change.value)) + " at revision " +
         std::to_string(change.revision);
}

class Judgement {
 public:
  explicit Judgement(const MembersHistory& history)
      : history_(history), log_(history.members.front().log) {}

  MembersVerdict Run() {
    for (const Change& change : log_) {
      at_.emplace(change.revision, &change);
      if (change.value != 0) ++times_[change.value];
    }
    for (const auto& writer : history_.writers) JudgeWriter(writer);
    JudgeLog();
    for (const MemberView& member : history_.members) JudgeMember(member);
    for (const MemberWatch& watch : history_.watches) JudgeWatch(watch);
    verdict_.lists = history_.lists;
    verdict_.stale_lists = history_.stale_lists;
    if (verdict_.stale_lists > 0) Violated("a consistent list is older than a write before it");
    return std::move(verdict_);
  }

 private:
  void Violated(const std::string& what) {
    if (verdict_.first_violation.empty()) verdict_.first_violation = what;
  }

  void JudgeWriter(const std::vector<MemberWrite>& writes) {
    Revision last = 0;
    for (const MemberWrite& write : writes) {
      if (write.outcome != WriteOutcome::kAcknowledged) {
        JudgeOther(write);
        continue;
      }
      ++verdict_.acknowledged;
      owned_.insert(write.change.revision);
      const auto found = at_.find(write.change.revision);
      if (found == at_.end() || *found->second != write.change) {
        ++verdict_.lost;
        Violated("lost: " + TextOf(write.change));
      }
      if (write.change.revision <= last) {
        ++verdict_.disordered;
        Violated("acknowledged too early: " + TextOf(write.change));
      }
      last = write.change.revision;
    }
  }

  void JudgeOther(const MemberWrite& write) {
    const Change& change = write.change;
    const bool happened = change.value != 0 && times_.contains(change.value);
    if (write.outcome == WriteOutcome::kRefused) {
      ++verdict_.refused;
      if (happened) Strange("refused, but it happened", change);
      return;
    }
    ++verdict_.unknown;
    if (happened) ++verdict_.unknown_happened;
    if (change.value == 0) {
      ++unknown_deletes_[change.key];
    } else {
      unknown_values_.emplace(change.value, change.key);
    }
  }

  void Strange(const std::string& what, const Change& change) {
    ++verdict_.strange;
    Violated(what + ": " + TextOf(change));
  }

  // Everything in the log is somebody's write, once.
  void JudgeLog() {
    for (const Change& change : log_) {
      if (change.value != 0 && times_[change.value] > 1) {
        Strange("happened twice", change);
        continue;
      }
      // Those at other revisions than they were acknowledged at are lost, and strange.
      if (owned_.contains(change.revision)) continue;
      if (change.value == 0) {
        std::size_t& left = unknown_deletes_[change.key];
        if (left == 0) {
          Strange("nobody's", change);
        } else {
          --left;
          ++verdict_.unknown_happened;
        }
        continue;
      }
      const auto found = unknown_values_.find(change.value);
      if (found == unknown_values_.end() || found->second != change.key) {
        Strange("nobody's", change);
      }
    }
  }

  void JudgeMember(const MemberView& member) {
    std::map<std::string, std::int64_t> state;
    Revision next = 2;
    bool whole = true;
    for (const Change& change : member.log) {
      whole = whole && change.revision == next++;
      if (change.value == 0) {
        state.erase(change.key);
      } else {
        state[change.key] = change.value;
      }
    }
    if (whole && state == member.state && member.log == log_) return;
    ++verdict_.disagreeing;
    Violated("the members do not agree, or a log has holes");
  }

  void JudgeWatch(const MemberWatch& watch) {
    WatchVerdict result;
    result.name = watch.name;
    result.events = watch.changes.size();
    result.resumes = watch.resumes;
    result.counts = watch.resumes_where_it_was;
    std::set<Revision> told;
    std::size_t right = 0;
    std::string first;
    for (const Change& change : watch.changes) {
      const auto found = at_.find(change.revision);
      const bool true_one =
          found != at_.end() && *found->second == change && change.key.starts_with(watch.prefix);
      if (!told.empty() && change.revision < *told.rbegin()) ++result.disordered;
      const bool again = !told.insert(change.revision).second;
      if (again) ++result.duplicates;
      if (!true_one) ++result.wrong;
      if (true_one && !again) ++right;
      if ((!true_one || again) && first.empty()) first = "was told wrongly: " + TextOf(change);
    }
    std::size_t due = 0;
    for (const Change& change : log_) {
      if (!change.key.starts_with(watch.prefix)) continue;
      ++due;
      if (first.empty() && !told.contains(change.revision)) first = "missed: " + TextOf(change);
    }
    result.gaps = due - right;
    if (first.empty() && result.disordered > 0) first = "was told things out of order";
    if (!first.empty() && result.counts) Violated("watch " + watch.name + " " + first);
    verdict_.watches.push_back(std::move(result));
  }

  const MembersHistory& history_;
  const std::vector<Change>& log_;
  MembersVerdict verdict_;
  std::unordered_map<Revision, const Change*> at_;
  std::unordered_map<std::int64_t, int> times_;  // That a value was written.
  std::set<Revision> owned_;                     // Acknowledged to somebody.
  std::map<std::string, std::size_t> unknown_deletes_;
  std::unordered_map<std::int64_t, std::string> unknown_values_;
};

}  // namespace

std::size_t MembersVerdict::violations() const {
  std::size_t sum = lost + strange + disordered + disagreeing + stale_lists;
  for (const WatchVerdict& watch : watches) {
    if (watch.counts) sum += watch.gaps + watch.duplicates + watch.disordered + watch.wrong;
  }
  return sum;
}

MembersVerdict Judge(const MembersHistory& history) { return Judgement(history).Run(); }

std::int64_t ValueIn(std::string_view bytes) {
  constexpr std::string_view kName = "\"size\":";
  const std::size_t at = bytes.find(kName);
  if (at == std::string_view::npos) return 0;
  std::int64_t value = 0;
  const char* const from = bytes.data() + at + kName.size();
  std::from_chars(from, bytes.data() + bytes.size(), value);
  return value;
}

}  // namespace apiserver::inline v0::faults
