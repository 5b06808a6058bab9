#include <algorithm>

#include "apiserver/meta/validation.h"

namespace apiserver::v0::meta {
namespace {

constexpr std::string_view kHttpPathPattern = R"([A-Za-z0-9/\-._~%!$&'()*+,;=:]+)";

bool IsHttpPathCharacter(char c) {
  if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return c != '\0' && std::string_view("/-._~%!$&'()*+,;=:").find(c) != std::string_view::npos;
}

}  // namespace

field::ErrorList IsDomainPrefixedPath(const field::Path& path, std::string_view value) {
  field::ErrorList errors;
  if (value.empty()) {
    errors.Required(path);
    return errors;
  }
  const std::size_t slash = value.find('/');
  if (slash == 0 || slash == std::string_view::npos || slash + 1 == value.size()) {
    errors.Invalid(path, value, R"(must be a domain-prefixed path (such as "acme.io/foo"))");
    return errors;
  }
  const std::string_view host = value.substr(0, slash);
  for (std::string& complaint : IsDNS1123Subdomain(host)) {
    errors.Invalid(path, host, std::move(complaint));
  }
  const std::string_view rest = value.substr(slash + 1);
  if (!std::ranges::all_of(rest, IsHttpPathCharacter)) {
    errors.Invalid(
        path, rest,
        "Invalid path (regex used for validation is '" + std::string(kHttpPathPattern) + "')");
  }
  return errors;
}

}  // namespace apiserver::v0::meta
