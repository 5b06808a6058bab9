#pragma once

#include <string>
#include <vector>

namespace apiserver::inline v0::server {

// `299 - "text"` for each text, with control characters dropped and quotes escaped. When all are
// together over 4096 characters, each is cut to 256, as k8s.io/apiserver's warning filter does.
std::vector<std::string> WarningHeaders(const std::vector<std::string>& texts);

}  // namespace apiserver::inline v0::server
