#include "http/go_ip.h"

#include <string>

#include "apiserver/base/field_path.h"
#include "base/status_macros.h"
#include "http/tokens.h"
#include "text/hex.h"

namespace apiserver::v0::http {
namespace {

constexpr int kIpv6Bytes = 16;

class IpParser {
 public:
  explicit IpParser(std::string_view text) : text_(text) {}

  Status ParseV4(std::string_view rest) const;
  Status ParseV6();

 private:
  // What is wrong, and where.
  Status Bad(const std::string& why, std::string_view at = "") const {
    std::string message = "ParseAddr(" + field::Quote(text_) + "): " + why;
    if (!at.empty()) message += " (at " + field::Quote(at) + ")";
    return {Reason::kInvalid, std::move(message)};
  }
  // How many digits `rest` begins with.
  Result<std::size_t> DigitsOf(std::string_view rest) const;
  // `bytes_` are all, or "::" stands for the rest.
  Status CheckLength() const;
  // An IPv4 address at the end, after `bytes_` bytes.
  Status ParseEmbedded(std::string_view rest);
  // What stands behind a group: the end, or a colon and more. Takes the colons.
  Status TakeColons(std::string_view& rest);

  const std::string_view text_;
  int bytes_ = 0;  // Of the address that were read.
  bool ellipsis_ = false;
};

Status IpParser::ParseV4(std::string_view rest) const {
  int value = 0;
  int digits = 0;
  int fields = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c >= '0' && c <= '9') {
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
  return fields < 3 ? Bad("IPv4 address too short") : Status();
}

Result<std::size_t> IpParser::DigitsOf(std::string_view rest) const {
  std::size_t digits = 0;
  while (digits < rest.size() && text::IsHexDigit(rest[digits])) {
    if (++digits > 4) return Bad("each group must have 4 or less digits", rest);
  }
  if (digits == 0) return Bad("each colon-separated field must have at least one digit", rest);
  return digits;
}

Status IpParser::ParseEmbedded(std::string_view rest) {
  if (!ellipsis_ && bytes_ != kIpv6Bytes - 4) {
    return Bad("embedded IPv4 address must replace the final 2 fields of the address", rest);
  }
  if (bytes_ + 4 > kIpv6Bytes) {
    return Bad("too many hex fields to fit an embedded IPv4 at the end of the address", rest);
  }
  bytes_ += 4;
  RETURN_IF_ERROR(ParseV4(rest));
  return CheckLength();
}

Status IpParser::CheckLength() const {
  if (bytes_ < kIpv6Bytes) return ellipsis_ ? Status() : Bad("address string too short");
  return ellipsis_ ? Bad("the :: must expand to at least one field of zeros") : Status();
}

Status IpParser::TakeColons(std::string_view& rest) {
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

Status IpParser::ParseV6() {
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
    ASSIGN_OR_RETURN(const std::size_t digits, DigitsOf(rest));
    if (digits < rest.size() && rest[digits] == '.') return ParseEmbedded(rest);
    bytes_ += 2;
    rest.remove_prefix(digits);
    RETURN_IF_ERROR(TakeColons(rest));
    if (rest.empty()) break;
  }
  if (!rest.empty()) return Bad("trailing garbage after address", rest);
  return CheckLength();
}

}  // namespace

Result<IpFamily> ParseGoIp(std::string_view text) {
  const std::size_t mark = text.find_first_of(".:%");
  if (mark == std::string_view::npos || text[mark] == '%') {
    const char* const why =
        mark == std::string_view::npos ? "unable to parse IP" : "missing IPv6 address";
    return Status(Reason::kInvalid, "ParseAddr(" + field::Quote(text) + "): " + why);
  }
  IpParser parser(text);
  if (text[mark] == '.') {
    RETURN_IF_ERROR(parser.ParseV4(text));
    return IpFamily::kV4;
  }
  RETURN_IF_ERROR(parser.ParseV6());
  return IpFamily::kV6;
}

}  // namespace apiserver::v0::http
