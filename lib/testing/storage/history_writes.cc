#include <set>

#include "testing/storage/history_index.h"

// Checks the results of writes against the engine's log: S1, S2, S4, S15, S17.
namespace apiserver::v0::testing::storage {
namespace {

using Outcome = Operation::Outcome;
using Verb = Operation::Verb;

std::string About(const Operation& op) {
  constexpr const char* kVerbs[] = {"create", "get", "update", "delete"};
  return std::string(kVerbs[static_cast<int>(op.verb)]) + " of " + op.key + " (value " +
         std::to_string(op.value) + ", revision " + std::to_string(op.revision) + ", called at " +
         std::to_string(op.invoked) + ", answered at " + std::to_string(op.returned) +
         (op.outcome == Outcome::kFailed ? ": " + std::string(ReasonWord(op.reason)) : "") +
         (op.wanted_revision != 0 ? ", wanted " + std::to_string(op.wanted_revision) : "") +
         (op.based_on != 0 ? ", made from " + std::to_string(op.based_on) : "") + ")";
}

constexpr std::size_t kStepsMax = 5'000'000;

std::string Number(std::int64_t number) { return std::to_string(number); }

// Checks the log by itself: revisions ascend, each entry follows the previous one of its key, and
// no value was stored twice.
void CheckLog(const HistoryIndex& index, Findings& findings) {
  std::int64_t last = 0;
  std::set<std::int64_t> values;
  for (std::size_t i = 0; i < index.log().size() && !findings.full(); ++i) {
    const LogEntry& entry = index.log()[i];
    const std::string where = entry.key + " at " + Number(entry.revision);
    if (entry.revision <= last) findings.Add("S4", "the log does not ascend: " + where);
    last = entry.revision;
    const LogEntry* before = index.Before(i);
    if (entry.created != (before == nullptr) && !entry.deleted) {
      findings.Add("S15", "create and update are mixed up: " + where);
    }
    if (entry.deleted && before == nullptr) findings.Add("S4", "deleted what was not: " + where);
    if (entry.previous != (before == nullptr ? 0 : before->revision)) {
      findings.Add("S1", "does not follow on what the key held: " + where);
    }
    if (entry.deleted) continue;
    if (!values.insert(entry.value).second) {
      findings.Add("S15", "value " + Number(entry.value) + " was stored twice: " + where);
    }
    if (before != nullptr && before->uid != entry.uid) {
      findings.Add("S17", "another uid under the same lifetime: " + where);
    }
  }
}

void CheckPreconditions(const Operation& op, const LogEntry& before, Findings& findings) {
  if (op.based_on != 0 && before.revision != op.based_on) {
    findings.Add("S1", About(op) + " was made from revision " + Number(op.based_on) +
                           " but replaced " + Number(before.revision));
  }
  if (op.wanted_revision != 0 && before.revision != op.wanted_revision) {
    findings.Add("S1", About(op) + " wanted revision " + Number(op.wanted_revision));
  }
  if (op.wanted_uid != 0 && before.uid != op.wanted_uid) {
    findings.Add("S17", About(op) + " wanted uid " + Number(op.wanted_uid));
  }
}

void CheckAcked(const Operation& op, const HistoryIndex& index, Findings& findings) {
  const LogEntry* entry = index.At(op.revision);
  const bool deleted = op.verb == Verb::kDelete;
  if (entry == nullptr || entry->key != op.key || entry->deleted != deleted ||
      (!deleted && entry->value != op.value)) {
    findings.Add("S4", About(op) + " was acknowledged but is not in the log");
    return;
  }
  if (index.AckedWriteBefore(op.invoked) >= op.revision) {
    findings.Add("S4", About(op) + " has a smaller revision than a write before it");
  }
  if (op.verb == Verb::kCreate) {
    if (!entry->created) findings.Add("S15", About(op) + " replaced an object");
    return;
  }
  // After() is one past the write's own entry.
  const LogEntry* before = index.Before(index.After(op.revision) - 1);
  if (before == nullptr) {
    findings.Add("S1", About(op) + " found nothing there");
    return;
  }
  if (deleted && op.value != before->value)
    findings.Add("S3", About(op) + " deleted another value");
  CheckPreconditions(op, *before, findings);
}

}  // namespace

void CheckWrites(const History& history, const HistoryIndex& index, Findings& findings) {
  CheckLog(index, findings);
  std::set<std::int64_t> claimed;         // Revisions.
  std::set<std::int64_t> written;         // Values that an operation may have written.
  std::set<std::string> perhaps_deleted;  // Keys.
  for (const Operation& op : history.operations) {
    if (findings.full()) return;
    if (op.verb == Verb::kGet) continue;
    switch (op.outcome) {
      case Outcome::kOk:
        CheckAcked(op, index, findings);
        if (!claimed.insert(op.revision).second) {
          findings.Add("S4", About(op) + " shares its revision with another write");
        }
        if (op.verb != Verb::kDelete) written.insert(op.value);
        break;
      case Outcome::kFailed:
        // A failed delete has no value, so that it cannot be recognised in the log.
        if (op.verb != Verb::kDelete && index.OfValue(op.value) != nullptr) {
          findings.Add("S3", About(op) + " failed but has happened");
        }
        break;
      case Outcome::kUnknown:
        // Any deletion of the key may be this one.
        if (op.verb == Verb::kDelete) perhaps_deleted.insert(op.key);
        written.insert(op.value);
        break;
    }
  }
  for (const LogEntry& entry : index.log()) {
    if (entry.deleted ? claimed.count(entry.revision) + perhaps_deleted.count(entry.key) == 0
                      : written.count(entry.value) == 0) {
      findings.Add("S3", "nobody asked for what the log has at " + Number(entry.revision));
    }
  }
}

// Checks S3 for each key by itself. The log decides what became of unknown writes, which makes the
// search short; operations that never took effect are left out.
void CheckKeys(const History& history, const HistoryIndex& index, Findings& findings) {
  std::map<std::string, std::vector<Operation>> keys;
  for (const Operation& op : history.operations) {
    Operation resolved = op;
    if (op.outcome == Outcome::kUnknown && op.verb != Verb::kDelete) {
      const LogEntry* entry = index.OfValue(op.value);
      if (entry == nullptr) continue;
      resolved.outcome = Outcome::kOk;
      resolved.revision = entry->revision;
      resolved.returned = kNever;
    }
    keys[op.key].push_back(std::move(resolved));
  }
  for (const auto& [key, operations] : keys) {
    if (findings.full()) return;
    Operation stuck;
    const Verdict verdict = CheckLinearizable(operations, kStepsMax, &stuck);
    if (verdict == Verdict::kNotLinearizable) {
      findings.Add("S3", key + " is not linearizable; nothing explains the " + About(stuck));
    }
    if (verdict == Verdict::kUnknown) {
      findings.Add("S3", key + ": no verdict within the steps allowed");
    }
  }
}

}  // namespace apiserver::v0::testing::storage
