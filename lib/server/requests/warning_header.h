#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apiserver/rest/warnings.h"

namespace apiserver::inline v0::server {

// The limits, in characters of text.
struct WarningLimits {
  std::size_t total = 4096;  // If all together are longer, each is cut.
  std::size_t each_if_cut = 256;
};

// Returns the values of the Warning headers of a response, chosen as k8s.io/apiserver's warning
// filter does: texts that no header can carry are left out; if all are over the total, each is cut,
// and the one that reaches the total is the last.
std::vector<std::string> WarningHeaders(const std::vector<rest::WarningPtr>& warnings,
                                        const WarningLimits& limits = {});

}  // namespace apiserver::inline v0::server
