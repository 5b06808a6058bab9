#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apiserver/rest/warnings.h"

namespace apiserver::inline v0::server {

// In characters of text.
struct WarningLimits {
  std::size_t total = 4096;  // Beyond, all are cut.
  std::size_t each_if_cut = 256;
};

// The values of the Warning headers of a response, as k8s.io/apiserver's warning filter chooses
// them: what no header can say is left out; if all are over the total, each is cut, and those that
// reach the total are the last.
std::vector<std::string> WarningHeaders(const std::vector<rest::WarningPtr>& warnings,
                                        const WarningLimits& limits = {});

}  // namespace apiserver::inline v0::server
