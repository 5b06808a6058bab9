#include "program/examination.h"

#include <utility>

#include "program/examination_parts.h"

namespace apiserver::v0::program {

namespace {

using delegation::Finding;

Examination Diagnose(const ExaminationOptions& options) {
  Examination examination{.options = options};
  ExamineDataDir(examination);
  return examination;
}

}  // namespace

std::vector<Finding> Examine(const ExaminationOptions& options) {
  std::vector<Finding> findings;
  for (Diagnosis& each : Diagnose(options).found) findings.push_back(std::move(each.finding));
  return findings;
}

}  // namespace apiserver::v0::program
