#include "text/percent.h"

#include "text/ascii.h"
#include "text/hex.h"

namespace apiserver::v0::text {
namespace {

bool IsUnreserved(char c) {
  return IsDigit(c) || IsLetter(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

}  // namespace

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  constexpr auto kNone = std::string_view::npos;
  // Most texts have no escapes.
  if (text.find('%') == kNone && (!plus_is_space || text.find('+') == kNone)) {
    return std::string(text);
  }
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded.push_back(' ');
    } else if (text[i] != '%') {
      decoded.push_back(text[i]);
    } else {
      const int high = text.size() - i > 2 ? HexValue(text[i + 1]) : -1;
      const int low = text.size() - i > 2 ? HexValue(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      decoded.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return decoded;
}

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (IsUnreserved(c)) {
      encoded.push_back(c);
    } else {
      AppendPercentEscape(c, encoded);
    }
  }
  return encoded;
}

void AppendPercentEscape(char c, std::string& out) {
  const auto byte = static_cast<unsigned char>(c);
  out.push_back('%');
  out.push_back(UpperHexDigit(byte >> 4U));
  out.push_back(UpperHexDigit(byte));
}

}  // namespace apiserver::v0::text
