#include "http/host.h"

#include <algorithm>
#include <cstddef>

#include "http/tokens.h"
#include "text/hex.h"

namespace apiserver::v0::http {
namespace {

constexpr unsigned kPortMax = 65535;

bool IsNameCharacter(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return c != '\0' && std::string_view("-._~!$&'()*+,;=").find(c) != std::string_view::npos;
}

// Unreserved characters, sub-delims and escapes; those of `more` too.
bool IsName(std::string_view name, std::string_view more) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '%') {
      if (name.size() - i < 3 || !text::IsHexDigit(name[i + 1]) || !text::IsHexDigit(name[i + 2])) {
        return false;
      }
      i += 2;
    } else if (!IsNameCharacter(name[i]) && more.find(name[i]) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

// The port may be missing behind its colon, as in a URL.
bool IsPort(std::string_view port) {
  unsigned number = 0;
  for (const char c : port) {
    if (c < '0' || c > '9') return false;
    number = number * 10 + static_cast<unsigned>(c - '0');
    if (number > kPortMax) return false;
  }
  return true;
}

}  // namespace

bool IsHost(std::string_view host) {
  std::size_t end = 0;
  if (host.starts_with('[')) {
    const std::size_t bracket = host.find(']');
    if (bracket == std::string_view::npos || bracket == 1) return false;
    if (!IsName(host.substr(1, bracket - 1), ":")) return false;
    end = bracket + 1;
  } else {
    end = std::min(host.find(':'), host.size());
    // A port belongs to something.
    if (!IsName(host.substr(0, end), "") || (end == 0 && !host.empty())) return false;
  }
  const std::string_view rest = host.substr(end);
  return rest.empty() || (rest.starts_with(':') && IsPort(rest.substr(1)));
}

}  // namespace apiserver::v0::http
