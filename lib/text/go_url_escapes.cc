#include "text/go_url_escapes.h"

#include <algorithm>

#include "text/ascii.h"
#include "text/hex.h"
#include "text/percent.h"
#include "text/quote.h"

namespace apiserver::v0::text {
namespace {

// The characters that a part may hold unescaped besides letters, digits and "-_.~".
std::string_view PlainIn(UrlPart part) {
  switch (part) {
    case UrlPart::kPath:
      return "$&+,/:;=@";
    case UrlPart::kHost:
    case UrlPart::kZone:
      return "!$&'()*+,;=:[]<>\"";
    case UrlPart::kUserPassword:
      return "$&+,;=";
    case UrlPart::kFragment:
      break;
  }
  return "$&+,/:;=?@!()*";
}

bool IsPlain(char c, UrlPart part) {
  return IsLetter(c) || IsDigit(c) || std::string_view("-_.~").find(c) != std::string_view::npos ||
         PlainIn(part).find(c) != std::string_view::npos;
}

// `escape`: a percent sign and up to two characters.
Error CheckEscape(std::string_view escape, UrlPart part) {
  const int high = escape.size() == 3 ? HexValue(escape[1]) : -1;
  const int low = escape.size() == 3 ? HexValue(escape[2]) : -1;
  bool good = high >= 0 && low >= 0;
  if (good && escape != "%25") {
    // A host may not escape what it can write plainly; a zone may, and may hold spaces.
    if (part == UrlPart::kHost) good = high >= 8;
    if (part == UrlPart::kZone) {
      const char c = static_cast<char>(high * 16 + low);
      good = c == ' ' || IsPlain(c, part);
    }
  }
  if (good) return {};
  return Error("invalid URL escape " + Quote(escape));
}

}  // namespace

Read<std::string> UnescapeUrlPart(std::string_view text, UrlPart part) {
  const bool host = part == UrlPart::kHost || part == UrlPart::kZone;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (Error wrong = CheckEscape(text.substr(i, 3), part)) return wrong;
      i += 2;
    } else if (host && static_cast<unsigned char>(text[i]) < 0x80 && !IsPlain(text[i], part)) {
      return Error("invalid character " + Quote(text.substr(i, 1)) + " in host name");
    }
  }
  return *PercentDecode(text);
}

std::string EscapeUrlPart(std::string_view text, UrlPart part) {
  std::string escaped;
  for (const char c : text) {
    if (IsPlain(c, part)) {
      escaped += c;
      continue;
    }
    AppendPercentEscape(c, escaped);
  }
  return escaped;
}

bool IsEncodedUrlPart(std::string_view text, UrlPart part) {
  return std::ranges::all_of(text, [part](char c) {
    return IsPlain(c, part) || std::string_view("!$&'()*+,;=:@[]%").find(c) != std::string::npos;
  });
}

}  // namespace apiserver::v0::text
