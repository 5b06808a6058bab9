#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace apiserver::inline v0::client {

// "https://user:word@example.com:8443/x?y" -> scheme, "user:word@", "example.com:8443", "/x?y".
struct CalledUrl {
  std::string_view scheme;
  std::string_view user;
  std::string_view authority;
  std::string_view rest;
};

// Splits `url`, which the result borrows. All parts are empty if it has no scheme.
inline CalledUrl PartsOf(std::string_view url) {
  CalledUrl parts;
  const std::size_t slashes = url.find("://");
  if (slashes == std::string_view::npos) return parts;
  parts.scheme = url.substr(0, slashes);
  url.remove_prefix(slashes + 3);
  const std::size_t end = std::min(url.find_first_of("/?#"), url.size());
  parts.rest = url.substr(end);
  parts.authority = url.substr(0, end);
  if (const std::size_t at = parts.authority.rfind('@'); at != std::string_view::npos) {
    parts.user = parts.authority.substr(0, at + 1);
    parts.authority.remove_prefix(at + 1);
  }
  return parts;
}

}  // namespace apiserver::inline v0::client
