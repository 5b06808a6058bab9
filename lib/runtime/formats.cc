#include "runtime/formats.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string>

#include "apiserver/runtime/time.h"
#include "runtime/email.h"
#include "runtime/patterns.h"
#include "text/ascii.h"
#include "text/duration.h"
#include "text/go_url.h"
#include "text/hex.h"
#include "text/ip.h"

namespace apiserver::v0::runtime {

namespace {

bool IsDate(std::string_view text) {
  return text.size() == 10 && ParseTime(std::string(text) + "T00:00:00Z").ok();
}

// "z", "+01:00". Go looks at the form only.
bool IsZone(std::string_view text) {
  if (text == "z" || text == "Z") return true;
  return text.size() == 6 && (text[0] == '+' || text[0] == '-') && text::IsDigit(text[1]) &&
         text::IsDigit(text[2]) && text[3] == ':' && text::IsDigit(text[4]) &&
         text::IsDigit(text[5]);
}

// Tells if a fraction and a zone end a time: any character and digits may stand for the fraction.
bool IsTimeEnd(std::string_view text) {
  if (IsZone(text)) return true;
  if (text.empty() || text.front() == '\n') return false;
  text.remove_prefix(1);
  while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xC0U) == 0x80U) {
    text.remove_prefix(1);
  }
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  return digits > 0 && IsZone(text.substr(digits));
}

// What follows a second "t" is ignored, as in Go.
bool IsDateTime(std::string_view text) {
  const std::size_t at = text.find_first_of("tT");
  if (at == std::string_view::npos || !IsDate(text.substr(0, at))) return false;
  std::string_view time = text.substr(at + 1);
  time = time.substr(0, time.find_first_of("tT"));
  constexpr std::size_t kSize = 8;
  if (time.size() < kSize) return false;
  for (std::size_t i = 0; i < kSize; ++i) {
    if (i % 3 == 2 ? time[i] != ':' : !text::IsDigit(time[i])) return false;
  }
  return time.substr(0, 2) <= "23" && time.substr(3, 2) <= "59" && time.substr(6, 2) <= "59" &&
         IsTimeEnd(time.substr(kSize));
}

// The dashes may be missing, as in Go's pattern. `version` 0: any.
bool IsUuidOf(std::string_view text, char version, bool variant) {
  constexpr std::array<std::size_t, 5> kGroups = {8, 4, 4, 4, 12};
  constexpr std::string_view kVariants = "89abAB";
  for (std::size_t i = 0; i < kGroups.size(); ++i) {
    if (i > 0 && text.starts_with('-')) text.remove_prefix(1);
    const std::string_view group = text.substr(0, kGroups[i]);
    const bool hex = std::all_of(group.begin(), group.end(), text::IsHexDigit);
    if (group.size() != kGroups[i] || !hex) return false;
    if (i == 2 && version != 0 && group.front() != version) return false;
    if (i == 3 && variant && kVariants.find(group.front()) == std::string_view::npos) return false;
    text.remove_prefix(group.size());
  }
  return text.empty();
}

bool IsUuid(std::string_view text) { return IsUuidOf(text, 0, false); }
bool IsUuid3(std::string_view text) { return IsUuidOf(text, '3', false); }
bool IsUuid4(std::string_view text) { return IsUuidOf(text, '4', true); }
bool IsUuid5(std::string_view text) { return IsUuidOf(text, '5', true); }

// Go's net.ParseMAC: 6, 8 or 20 bytes, as "01:23", "01-23" or "0123.4567".
bool IsMac(std::string_view text) {
  const bool dots = text.size() > 4 && text[4] == '.';
  const std::size_t group = dots ? 4 : 2;
  if (text.size() < 12 || (text.size() + 1) % (group + 1) != 0) return false;
  const char separator = text[group];
  if (separator != '.' && separator != ':' && separator != '-') return false;
  if (dots != (separator == '.')) return false;
  const std::size_t bytes = (text.size() + 1) / (group + 1) * (group / 2);
  if (bytes != 6 && bytes != 8 && bytes != 20) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool between = i % (group + 1) == group;
    if (between ? text[i] != separator : !text::IsHexDigit(text[i])) return false;
  }
  return true;
}

bool IsIpv4Sloppy(std::string_view text) {
  return text.find('.') != std::string_view::npos && text::CanonicalIP(text).has_value();
}

bool IsCidrSloppy(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash);
  const std::string_view length = text.substr(slash + 1);
  if (!text::CanonicalIP(address)) return false;
  int bits = 0;
  for (const char c : length) {
    if (!text::IsDigit(c)) return false;
    bits = std::min(bits * 10 + (c - '0'), 1000);
  }
  return !length.empty() && bits <= (address.find(':') == std::string_view::npos ? 32 : 128);
}

// Go's pattern, which takes no empty text.
bool IsBase64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0) return false;
  const std::size_t pad = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  text.remove_suffix(pad);
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '/'; });
}

bool IsUri(std::string_view text) { return text::ParseGoRequestUri(text).ok(); }

bool IsHostname(std::string_view text) {
  static const Pattern pattern(
      R"(^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|)"
      R"(([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,})"
      R"(([a-zA-Z\p{L}]){2,63})$)");
  constexpr std::size_t kMax = 255;
  constexpr std::size_t kLabelMax = 63;
  if (text.size() > kMax || !pattern.Matches(text)) return false;
  while (!text.empty()) {
    const std::size_t label = std::min(text.find('.'), text.size());
    if (label > kLabelMax) return false;
    text.remove_prefix(std::min(label + 1, text.size()));
  }
  return true;
}

bool IsBsonObjectId(std::string_view text) {
  return text.size() == 24 && std::all_of(text.begin(), text.end(), text::IsHexDigit);
}

// Returns the digits of an ISBN; white space and dashes play no part.
std::string IsbnDigits(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (std::string_view(" \t\n\f\r-").find(c) == std::string_view::npos) digits += c;
  }
  return digits;
}

bool IsIsbn10(std::string_view text) {
  const std::string digits = IsbnDigits(text);
  if (digits.size() != 10 || !std::all_of(digits.begin(), digits.end() - 1, text::IsDigit))
    return false;
  if (!text::IsDigit(digits[9]) && digits[9] != 'X') return false;
  int sum = 10 * (digits[9] == 'X' ? 10 : digits[9] - '0');
  for (int i = 0; i < 9; ++i) sum += (i + 1) * (digits[static_cast<std::size_t>(i)] - '0');
  return sum % 11 == 0;
}

bool IsIsbn13(std::string_view text) {
  const std::string digits = IsbnDigits(text);
  if (digits.size() != 13 || !std::all_of(digits.begin(), digits.end(), text::IsDigit))
    return false;
  int sum = 0;
  for (std::size_t i = 0; i < 12; ++i) sum += (i % 2 == 0 ? 1 : 3) * (digits[i] - '0');
  return digits[12] - '0' == (10 - sum % 10) % 10;
}

bool IsIsbn(std::string_view text) { return IsIsbn10(text) || IsIsbn13(text); }

bool IsCreditCard(std::string_view text) {
  static const Pattern pattern(
      "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|"
      "3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\\d{3})\\d{11})$");
  std::string digits;
  std::copy_if(text.begin(), text.end(), std::back_inserter(digits), text::IsDigit);
  if (!pattern.Matches(digits)) return false;
  int sum = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const int digit = digits[digits.size() - 1 - i] - '0';
    const int twice = digit * 2;
    sum += i % 2 == 0 ? digit : twice % 10 + twice / 10;
  }
  return sum % 10 == 0;
}

bool IsSsn(std::string_view text) {
  static const Pattern pattern(R"(^\d{3}[- ]?\d{2}[- ]?\d{4}$)");
  return text.size() == 11 && pattern.Matches(text);
}

bool IsHexColor(std::string_view text) {
  if (text.starts_with('#')) text.remove_prefix(1);
  return (text.size() == 3 || text.size() == 6) &&
         std::all_of(text.begin(), text.end(), text::IsHexDigit);
}

bool IsRgbColor(std::string_view text) {
  static const Pattern pattern(
      R"(^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5]))"
      R"(\s*,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*\)$)");
  return pattern.Matches(text);
}

bool IsAny(std::string_view) { return true; }

bool IsUnit(std::string_view unit) {
  constexpr std::string_view kWhole[] = {"ns", "us", "µs", "ms", "s", "m",
                                         "h",  "hr", "d",  "w",  "wk"};
  constexpr std::string_view kPrefixes[] = {"nano", "micro", "milli", "sec",
                                            "min",  "hour",  "day",   "week"};
  std::string lower(unit);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return std::any_of(std::begin(kWhole), std::end(kWhole),
                     [&](std::string_view each) { return lower == each; }) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view each) { return lower.starts_with(each); });
}

// Go's durations, and Scala's: a number with a unit, anywhere in the text.
bool IsDuration(std::string_view text) {
  if (text::ParseDuration(text).ok()) return true;
  constexpr std::string_view kMicro = "µ";
  bool found = false;
  for (std::size_t at = 0; at < text.size();) {
    if (!text::IsDigit(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    const std::string_view number = text.substr(at, end - at);
    end = std::min(text.find_first_not_of(" \t\n\f\r", end), text.size());
    std::size_t unit_end = end;
    while (unit_end < text.size()) {
      if (std::isalpha(static_cast<unsigned char>(text[unit_end])) != 0) {
        ++unit_end;
      } else if (text.substr(unit_end).starts_with(kMicro)) {
        unit_end += kMicro.size();
      } else {
        break;
      }
    }
    at = std::max(unit_end, at + number.size());
    if (unit_end == end) continue;
    if (number.size() > 18) return false;  // As good as Go's int.
    found = found || IsUnit(text.substr(end, unit_end - end));
  }
  return found;
}

bool IsDnsLabel(std::string_view text) {
  const auto inner = [](char c) { return text::IsDigit(c) || (c >= 'a' && c <= 'z') || c == '-'; };
  return !text.empty() && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), inner);
}

bool IsShortName(std::string_view text) { return text.size() <= 63 && IsDnsLabel(text); }

bool IsLongName(std::string_view text) {
  if (text.size() > 253) return false;
  while (true) {
    const std::size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

struct Row {
  std::string_view format;
  bool (*matches)(std::string_view);
};

// The formats that every version of Kubernetes knows, and those of 1.34.
constexpr Row kFormats[] = {
    {"datetime", IsDateTime},
    {"date", IsDate},
    {"duration", IsDuration},
    {"uuid", IsUuid},
    {"uuid3", IsUuid3},
    {"uuid4", IsUuid4},
    {"uuid5", IsUuid5},
    {"ipv4", IsIpv4Sloppy},
    {"ipv6", text::IsIpv6},
    {"cidr", IsCidrSloppy},
    {"mac", IsMac},
    {"byte", IsBase64},
    {"uri", IsUri},
    {"email", IsEmail},
    {"hostname", IsHostname},
    {"bsonobjectid", IsBsonObjectId},
    {"isbn", IsIsbn},
    {"isbn10", IsIsbn10},
    {"isbn13", IsIsbn13},
    {"creditcard", IsCreditCard},
    {"ssn", IsSsn},
    {"hexcolor", IsHexColor},
    {"rgbcolor", IsRgbColor},
    {"password", IsAny},
    {"k8sshortname", IsShortName},
    {"k8slongname", IsLongName},
};

const Row* Find(std::string_view format) {
  constexpr std::size_t kNameMax = 32;
  if (format.size() > kNameMax) return nullptr;
  std::array<char, kNameMax> buffer;
  const auto end = std::remove_copy(format.begin(), format.end(), buffer.begin(), '-');
  const std::string_view name(buffer.data(), static_cast<std::size_t>(end - buffer.begin()));
  const auto found = std::find_if(std::begin(kFormats), std::end(kFormats),
                                  [name](const Row& row) { return row.format == name; });
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace

bool IsKnownFormat(std::string_view format) { return Find(format) != nullptr; }

bool MatchesFormat(std::string_view format, std::string_view text) {
  const Row* const row = Find(format);
  return row == nullptr || row->matches(text);
}

}  // namespace apiserver::v0::runtime
