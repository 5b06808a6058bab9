#pragma once

#include <span>
#include <string>
#include <vector>

#include "apiserver/base/file_system.h"
#include "apiserver/base/status.h"

// A new project: a server program of one kind, with a test of it.
namespace apiserver::inline v0::generator {

struct ProjectOptions {
  // Required. The name of the program and of its Service: a DNS-1035 label, "zoo-apiserver".
  std::string name = {};
  // Required. A domain with a dot: "zoo.example.com".
  std::string group = {};
  // Required. Begins with a capital, and is a DNS-1035 label but for its capitals: "Pet".
  std::string kind = {};
  // A DNS-1035 label.
  std::string version = "v1";
  // A DNS-1035 label. Empty: what Go guesses for the kind, "pets".
  std::string plural = {};
};

struct ProjectFile {
  std::string path;  // Below the folder of the project.
  std::string text;
};

// Returns the plural that Go guesses for a kind: Policy, policies. Go: UnsafeGuessKindToResource.
std::string PluralOf(const std::string& kind);

// Returns the files of a project, as the templates in project/ have them. kInvalid: an option is no
// such name; the message begins with its flag, and says what is wrong in Kubernetes' words.
Result<std::vector<ProjectFile>> NewProject(ProjectOptions options);

// Writes the files below `folder`, which is made if it is absent. kAlreadyExists: some of the files
// exist, and `force` is false; all of them are named, and nothing was written.
Status WriteProject(FileSystem& files_of, const std::string& folder,
                    std::span<const ProjectFile> files, bool force);

}  // namespace apiserver::inline v0::generator
