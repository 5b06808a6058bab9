#pragma once

#include <string>
#include <utility>
#include <vector>

#include "program/examination.h"

// The parts of an examination, each in a file of its own. They add to what was found before.
namespace apiserver::inline v0::program {

struct Examination {
  using Level = delegation::Finding::Level;

  // Adds a finding, whose subject and repair the caller may set until the next one is added.
  Diagnosis& Add(Level level, std::string check, std::string text, std::string remedy = {}) {
    return Add({level, std::move(check), std::move(text), std::move(remedy)});
  }
  Diagnosis& Add(delegation::Finding finding) {
    found.push_back({std::move(finding)});
    return found.back();
  }

  const ExaminationOptions& options;
  std::vector<Diagnosis> found = {};
  // Another process has the data directory, so its store and port are not looked at.
  bool in_use = false;
};

// Looks at the data directory: that it is there, whose it is, who uses it, its files and its disk.
void ExamineDataDir(Examination& examination);
// Looks at the certificates and at the kubeconfig.
void ExamineCertificates(Examination& examination);
// Looks at the files for etcd that flags name, and asks its members how they are.
void ExamineEtcd(Examination& examination);
// Looks at the port, at the store, and at the files that flags name.
void ExamineFlags(Examination& examination);

// Looks at what the system allows the process: open files, and profiles of itself.
void ExamineLimits(Examination& examination);

// Returns the text of an errno: "Permission denied".
std::string ErrnoText(int error);
// Adds a warning if others than its owner may read the file of secrets that a flag names.
void ExamineSecretOfFlag(Examination& examination, const std::string& path);

}  // namespace apiserver::inline v0::program
