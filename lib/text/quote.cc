#include "text/quote.h"

#include <algorithm>
#include <iterator>

#include "text/hex.h"
#include "text/utf8.h"

namespace apiserver::v0::text {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};
constexpr Range kPrintable[] = {
#include "text/printable.inc"
};

// Appends `digits` hexadecimal digits of `number`.
void AppendNumber(std::uint32_t number, int digits, std::string& out) {
  while (digits-- > 0) out += HexDigit(number >> (4 * digits));
}

// Follows strconv.appendEscapedRune.
void AppendEscaped(std::uint32_t code, std::string& out) {
  constexpr std::string_view kShort = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kLetters = "abfnrtv\\\"";
  out += '\\';
  if (code < 0x80) {
    const auto at = kShort.find(static_cast<char>(code));
    if (at != std::string_view::npos) {
      out += kLetters[at];
      return;
    }
  }
  if (code < 0x20 || code == 0x7F) {
    out += 'x';
    AppendNumber(code, 2, out);
  } else if (code < 0x10000) {
    out += 'u';
    AppendNumber(code, 4, out);
  } else {
    out += 'U';
    AppendNumber(code, 8, out);
  }
}

void AppendQuoted(std::string_view text, std::string& out) {
  out += '"';
  while (!text.empty()) {
    const Rune rune = FirstRune(text);
    // A genuine U+FFFD has three bytes; a byte that is no UTF-8 is one.
    if (rune.code == kReplacementRune && rune.text.size() == 1) {
      out += "\\x";
      AppendNumber(static_cast<unsigned char>(text[0]), 2, out);
    } else if (rune.code == '"' || rune.code == '\\' || !IsPrint(rune.code)) {
      AppendEscaped(rune.code, out);
    } else {
      out += rune.text;
    }
    text.remove_prefix(rune.text.size());
  }
  out += '"';
}

}  // namespace

bool IsPrint(std::uint32_t code) {
  if (code < 0x7F) return code >= 0x20;
  const auto* range = std::partition_point(std::begin(kPrintable), std::end(kPrintable),
                                           [code](const Range& r) { return r.last < code; });
  return range != std::end(kPrintable) && range->first <= code;
}

std::string Quote(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 2);
  AppendQuoted(text, out);
  return out;
}

std::string QuoteAll(std::span<const std::string> texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ' ';
    AppendQuoted(text, out);
  }
  return out + "]";
}

}  // namespace apiserver::v0::text
