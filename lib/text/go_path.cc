#include "text/go_path.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace apiserver::v0::text {

std::string CleanPath(std::string_view path) {
  const bool rooted = path.starts_with('/');
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  while (at < path.size()) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view part = path.substr(at, slash - at);
    at = slash + 1;
    if (part.empty() || part == ".") continue;
    const bool up = part == "..";
    if (up && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (!up || !rooted) {  // Nothing is above the root, but something is above other paths.
      parts.push_back(part);
    }
  }
  std::string clean = rooted ? "/" : "";
  for (std::size_t i = 0; i < parts.size(); ++i) clean.append(i == 0 ? "" : "/").append(parts[i]);
  return clean.empty() ? "." : clean;
}

std::string JoinPath(std::string_view first, std::string_view second) {
  if (first.empty() && second.empty()) return "";
  if (first.empty() || second.empty()) return CleanPath(first.empty() ? second : first);
  return CleanPath(std::string(first).append("/").append(second));
}

}  // namespace apiserver::v0::text
