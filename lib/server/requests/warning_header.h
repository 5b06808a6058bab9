#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace apiserver::inline v0::server {

// In characters of text.
struct WarningLimits {
  std::size_t total = 4096;  // Beyond, all are cut.
  std::size_t each_if_cut = 256;
};

// `299 - "text"` for each text, with quotes escaped, as k8s.io/apiserver's warning filter writes
// them: what is empty, no UTF-8 or has control characters is left out; once all are over the total,
// each is cut, and the first ones that reach the total are the last.
std::vector<std::string> WarningHeaders(const std::vector<std::string>& texts,
                                        const WarningLimits& limits = {});

}  // namespace apiserver::inline v0::server
