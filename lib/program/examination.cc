#include "program/examination.h"

#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <utility>

#include "apiserver/base/directory_lock.h"
#include "base/status_macros.h"
#include "program/examination_parts.h"

namespace apiserver::v0::program {

namespace {

using delegation::Finding;

// A repair may show what another has to repair: after a new authority the kubeconfig is old.
constexpr int kRounds = 3;

Examination Diagnose(const ExaminationOptions& options) {
  Examination examination{.options = options};
  ExamineDataDir(examination);
  ExamineCertificates(examination);
  ExamineEtcd(examination);
  ExamineFlags(examination);
  ExamineLimits(examination);
  const Program& program = options.program;
  if (!program.examine) return examination;
  for (Finding& each : program.examine(options.values.recommended)) {
    examination.found.push_back({std::move(each)});
  }
  return examination;
}

// Repairs each finding once.
class Repairs {
 public:
  explicit Repairs(const ExaminationOptions& options) : options_(options) {
    // Nothing is repaired in etcd, and a member that is down would be waited for in each round.
    options_.inspect_etcd = nullptr;
  }

  // kConflict: a server uses the data directory, or it is another user's.
  Status Run() {
    const Examination first = Diagnose(options_);
    if (first.in_use) return {Reason::kConflict, "a running server uses the data directory"};
    // Without the directory, or in one that cannot be written to, there is nothing to lock.
    for (const Diagnosis& each : first.found) {
      if (each.finding.check == "data-dir") RunOnce(each);
    }
    RETURN_IF_ERROR(CheckOwner());
    ASSIGN_OR_RETURN(const auto lock, LockDirectory(options_.values.data_dir));
    for (int round = 0; round < kRounds; ++round) {
      for (const Diagnosis& each : Diagnose(options_).found) RunOnce(each);
    }
    return {};
  }

  std::vector<Finding> results;

 private:
  // The files that root would make in a user's directory were of no use to the user's server.
  Status CheckOwner() const {
    struct stat facts {};
    if (stat(options_.values.data_dir.c_str(), &facts) != 0 || facts.st_uid == geteuid()) return {};
    return {Reason::kConflict, "the data directory belongs to user " +
                                   std::to_string(facts.st_uid) +
                                   "; run doctor --fix as that user"};
  }

  void RunOnce(const Diagnosis& diagnosis) {
    const Finding& found = diagnosis.finding;
    if (!diagnosis.repair || !begun_.emplace(found.check, found.subject).second) return;
    const auto how = diagnosis.repair();
    Finding result{.check = found.check, .subject = found.subject, .repaired = how.ok()};
    result.level = how.ok() ? Finding::Level::kOk : Finding::Level::kProblem;
    result.text = how.ok() ? *how : "cannot be repaired: " + std::string(how.status().message());
    results.push_back(std::move(result));
  }

  ExaminationOptions options_;
  std::set<std::pair<std::string, std::string>> begun_;  // Check and subject.
};

}  // namespace

std::vector<Finding> Examine(const ExaminationOptions& options) {
  std::vector<Finding> findings;
  for (Diagnosis& each : Diagnose(options).found) findings.push_back(std::move(each.finding));
  return findings;
}

std::vector<Finding> Repair(const ExaminationOptions& options) {
  Repairs repairs(options);
  const Status status = repairs.Run();
  std::vector<Finding> findings = std::move(repairs.results);
  if (!status.ok()) {
    findings.push_back({.level = Finding::Level::kProblem,
                        .check = "fix",
                        .text = "no more was repaired: " + std::string(status.message())});
  }
  for (Finding& each : Examine(options)) findings.push_back(std::move(each));
  return findings;
}

}  // namespace apiserver::v0::program
