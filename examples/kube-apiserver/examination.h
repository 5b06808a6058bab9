#pragma once

#include <string>
#include <vector>

#include "apiserver/base/status.h"
#include "apiserver/delegation/doctor.h"

// Looks for the command doctor at files that flags of this program name.
namespace kube {

// The PEM files for TLS to other servers. An empty path: there is none.
struct ClientFiles {
  std::string certificate = {};
  std::string key = {};
  std::string authorities = {};
};

// Adds a finding of `flag`, without dashes, about `files` if there are some.
void ExamineClientFiles(const std::string& flag, const ClientFiles& files,
                        std::vector<apiserver::delegation::Finding>& findings);

}  // namespace kube
