#include "runtime/formats.h"

#include <algorithm>
#include <array>
#include <string>

#include "apiserver/runtime/time.h"
#include "text/base64.h"
#include "text/hex.h"
#include "text/ip.h"

namespace apiserver::v0::runtime {

namespace {

bool IsDateTime(std::string_view text) { return ParseTime(text).ok(); }

bool IsDate(std::string_view text) {
  return text.size() == 10 && ParseTime(std::string(text) + "T00:00:00Z").ok();
}

// The dashes may be missing, as in Go's pattern.
bool IsUuid(std::string_view text) {
  constexpr std::array<std::size_t, 5> kGroups = {8, 4, 4, 4, 12};
  for (std::size_t i = 0; i < kGroups.size(); ++i) {
    if (i > 0 && text.starts_with('-')) text.remove_prefix(1);
    const std::string_view group = text.substr(0, kGroups[i]);
    const bool hex = std::all_of(group.begin(), group.end(), text::IsHexDigit);
    if (group.size() != kGroups[i] || !hex) return false;
    text.remove_prefix(group.size());
  }
  return text.empty();
}

bool IsMac(std::string_view text) {
  if (text.size() != 17 || (text[2] != ':' && text[2] != '-')) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i % 3 == 2 ? text[i] != text[2] : !text::IsHexDigit(text[i])) return false;
  }
  return true;
}

bool IsBase64(std::string_view text) { return text::DecodeBase64(text).has_value(); }

struct Row {
  std::string_view format;
  bool (*matches)(std::string_view);
};

constexpr Row kFormats[] = {
    {"date-time", IsDateTime}, {"datetime", IsDateTime}, {"date", IsDate},
    {"uuid", IsUuid},          {"ipv4", text::IsIpv4},   {"ipv6", text::IsIpv6},
    {"cidr", text::IsCidr},    {"mac", IsMac},           {"byte", IsBase64},
};

}  // namespace

// A format that is not in the list matches everything: Kubernetes ignores formats it does not know.
bool MatchesFormat(std::string_view format, std::string_view text) {
  for (const Row& row : kFormats) {
    if (row.format == format) return row.matches(text);
  }
  return true;
}

}  // namespace apiserver::v0::runtime
