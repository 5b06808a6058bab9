#include "text/ip.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "text/ascii.h"
#include "text/hex.h"
#include "text/quote.h"

namespace apiserver::v0::text {
namespace {

constexpr int kIpv6Bytes = 16;

// Checks an address as Go's netip.ParseAddr does, with its messages. The value is not kept.
class IpParser {
 public:
  explicit IpParser(std::string_view text) : text_(text) {}

  Error ParseV4(std::string_view rest) const;
  Error ParseV6();

 private:
  // Makes the error that says why the text is no address, and at which place.
  Error Bad(const std::string& why, std::string_view at = "") const {
    std::string message = "ParseAddr(" + Quote(text_) + "): " + why;
    if (!at.empty()) message += " (at " + Quote(at) + ")";
    return Error(std::move(message));
  }
  // Counts the digits that `rest` begins with.
  Read<std::size_t> DigitsOf(std::string_view rest) const;
  // Checks that there are enough bytes, or a "::" that stands for the rest.
  Error CheckLength() const;
  // Reads an IPv4 address at the end, after `bytes_` bytes.
  Error ParseEmbedded(std::string_view rest);
  // Takes the colons behind a group. An error unless `rest` is empty or has more behind a colon.
  Error TakeColons(std::string_view& rest);

  const std::string_view text_;
  int bytes_ = 0;  // Bytes of the address read so far.
  bool ellipsis_ = false;
};

Error IpParser::ParseV4(std::string_view rest) const {
  int value = 0;
  int digits = 0;
  int fields = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c >= '0' && c <= '9') {
      // As netip: other programs would read the octet as octal.
      if (digits == 1 && value == 0) return Bad("IPv4 field has octet with leading zero");
      value = value * 10 + (c - '0');
      ++digits;
      if (value > 255) return Bad("IPv4 field has value >255");
    } else if (c == '.') {
      if (i == 0 || i + 1 == rest.size() || rest[i - 1] == '.') {
        return Bad("IPv4 field must have at least one digit", rest.substr(i));
      }
      if (fields == 3) return Bad("IPv4 address too long");
      ++fields;
      value = digits = 0;
    } else {
      return Bad("unexpected character", rest.substr(i));
    }
  }
  return fields < 3 ? Bad("IPv4 address too short") : Error();
}

Read<std::size_t> IpParser::DigitsOf(std::string_view rest) const {
  std::size_t digits = 0;
  while (digits < rest.size() && IsHexDigit(rest[digits])) {
    if (++digits > 4) return Bad("each group must have 4 or less digits", rest);
  }
  if (digits == 0) return Bad("each colon-separated field must have at least one digit", rest);
  return digits;
}

Error IpParser::ParseEmbedded(std::string_view rest) {
  if (!ellipsis_ && bytes_ != kIpv6Bytes - 4) {
    return Bad("embedded IPv4 address must replace the final 2 fields of the address", rest);
  }
  if (bytes_ + 4 > kIpv6Bytes) {
    return Bad("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
  }
  bytes_ += 4;
  if (Error wrong = ParseV4(rest)) return wrong;
  return CheckLength();
}

Error IpParser::CheckLength() const {
  if (bytes_ < kIpv6Bytes) return ellipsis_ ? Error() : Bad("address string too short");
  return ellipsis_ ? Bad("the :: must expand to at least one field of zeros") : Error();
}

Error IpParser::TakeColons(std::string_view& rest) {
  if (rest.empty()) return {};
  if (rest[0] != ':') return Bad("unexpected character, want colon", rest);
  if (rest.size() == 1) return Bad("colon must be followed by more characters", rest);
  rest.remove_prefix(1);
  if (rest[0] != ':') return {};
  if (ellipsis_) return Bad("multiple :: in address", rest);
  ellipsis_ = true;
  rest.remove_prefix(1);
  return {};
}

Error IpParser::ParseV6() {
  std::string_view rest = text_;
  if (const std::size_t zone = rest.find('%'); zone != std::string_view::npos) {
    if (zone + 1 == rest.size()) return Bad("zone must be a non-empty string");
    rest = rest.substr(0, zone);
  }
  if (rest.starts_with("::")) {
    ellipsis_ = true;
    rest.remove_prefix(2);
    if (rest.empty()) return {};
  }
  while (bytes_ < kIpv6Bytes) {
    const Read<std::size_t> read = DigitsOf(rest);
    if (!read.ok()) return read.error();
    const std::size_t digits = *read;
    if (digits < rest.size() && rest[digits] == '.') return ParseEmbedded(rest);
    bytes_ += 2;
    rest.remove_prefix(digits);
    if (Error wrong = TakeColons(rest)) return wrong;
    if (rest.empty()) break;
  }
  if (!rest.empty()) return Bad("trailing garbage after address", rest);
  return CheckLength();
}

}  // namespace

Read<IpFamily> ParseGoIp(std::string_view text) {
  const std::size_t mark = text.find_first_of(".:%");
  if (mark == std::string_view::npos || text[mark] == '%') {
    const char* const why =
        mark == std::string_view::npos ? "unable to parse IP" : "missing IPv6 address";
    return Error("ParseAddr(" + Quote(text) + "): " + why);
  }
  IpParser parser(text);
  if (text[mark] == '.') {
    if (Error wrong = parser.ParseV4(text)) return wrong;
    return IpFamily::kV4;
  }
  if (Error wrong = parser.ParseV6()) return wrong;
  return IpFamily::kV6;
}

bool IsIpv4(std::string_view text) {
  const Read<IpFamily> family = ParseGoIp(text);
  return family.ok() && *family == IpFamily::kV4;
}

bool IsIpv6(std::string_view text) {
  if (text.find('%') != std::string_view::npos) return false;
  const Read<IpFamily> family = ParseGoIp(text);
  return family.ok() && *family == IpFamily::kV6;
}

bool IsCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view address = text.substr(0, slash);
  const std::string_view bits = text.substr(slash + 1);
  const unsigned max = IsIpv4(address) ? 32 : IsIpv6(address) ? 128 : 0;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), number);
  return max > 0 && error == std::errc() && end == bits.data() + bits.size() && number <= max;
}

namespace {

// True for four numbers without leading zeros, as nearly all addresses are written.
bool IsCanonicalIPv4(std::string_view text) {
  for (int parts = 1;; ++parts) {
    unsigned number = 0;
    std::size_t digits = 0;
    for (; digits < std::min<std::size_t>(text.size(), 3); ++digits) {
      if (!IsDigit(text[digits])) break;
      number = number * 10 + static_cast<unsigned>(text[digits] - '0');
    }
    if (digits == 0 || number > 255 || (digits > 1 && text[0] == '0')) return false;
    text.remove_prefix(digits);
    if (parts == 4) return text.empty();
    if (!text.starts_with('.')) return false;
    text.remove_prefix(1);
  }
}

std::optional<std::string> CanonicalIPv4(std::string_view text) {
  if (IsCanonicalIPv4(text)) return std::string(text);
  std::string canonical;
  for (int part = 0; part < 4; ++part) {
    if (part > 0) {
      if (!text.starts_with('.')) return std::nullopt;
      text.remove_prefix(1);
      canonical += '.';
    }
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number > 255) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    canonical += std::to_string(number);
  }
  if (!text.empty()) return std::nullopt;
  return canonical;
}

}  // namespace

std::optional<std::string> CanonicalIP(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return CanonicalIPv4(text);
  // C would end the text there.
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  in6_addr address{};
  if (inet_pton(AF_INET6, std::string(text).c_str(), &address) != 1) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> printed{};
  if (inet_ntop(AF_INET6, &address, printed.data(), printed.size()) == nullptr) return std::nullopt;
  std::string canonical(printed.data());
  constexpr std::string_view kMapped = "::ffff:";
  if (IN6_IS_ADDR_V4MAPPED(&address)) return canonical.substr(kMapped.size());
  if (canonical.find('.') == std::string::npos) return canonical;
  // C also prints "::1.2.3.4", where Go has groups of hexadecimal digits.
  std::string groups = "::";
  for (const int byte : {12, 14}) {
    const int group = address.s6_addr[byte] * 256 + address.s6_addr[byte + 1];
    std::array<char, 4> digits{};
    const auto [end, error] =
        std::to_chars(digits.data(), digits.data() + digits.size(), group, 16);
    groups.append(byte == 12 ? "" : ":").append(digits.data(), end);
  }
  return groups;
}

}  // namespace apiserver::v0::text
