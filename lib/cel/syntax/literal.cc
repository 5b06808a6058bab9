#include "cel/syntax/literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "text/hex.h"
#include "text/utf8.h"

namespace apiserver::v0::cel::syntax {
namespace {

using std::string_view;

// Turns CR LF and CR into LF, whatever system the text was written on.
std::string NormalizeNewlines(string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool paired = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (!paired) out += text[i] == '\r' ? '\n' : text[i];
  }
  return out;
}

// The character that a letter after a backslash stands for; 0 if it is no such letter.
char ShortEscape(char letter) {
  constexpr string_view kLetters = "abfnrtv\\'\"`?";
  constexpr string_view kCharacters = "\a\b\f\n\r\t\v\\'\"`?";
  const std::size_t at = kLetters.find(letter);
  return at == string_view::npos ? '\0' : kCharacters[at];
}

bool IsCodePoint(std::uint32_t code) {
  return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

// The digits of an escape and their base.
struct Number {
  std::size_t first;
  std::size_t count;
  std::uint32_t base;
};

Number NumberOf(char letter) {
  if (letter == 'u') return {2, 4, 16};
  if (letter == 'U') return {2, 8, 16};
  if (letter == 'x' || letter == 'X') return {2, 2, 16};
  return {1, 3, 8};
}

class Unescaper {
 public:
  Unescaper(string_view text, bool bytes) : text_(text), bytes_(bytes) {}

  text::Read<std::string> Run() {
    while (!text_.empty()) {
      if (text_[0] != '\\') {
        const std::size_t plain = std::min(text_.find('\\'), text_.size());
        out_ += text_.substr(0, plain);
        text_.remove_prefix(plain);
      } else if (const text::Error error = Escape()) {
        return error;
      }
    }
    return std::move(out_);
  }

 private:
  // Replaces the escape at the start. The lexer has seen that its letters and digits are all there.
  text::Error Escape() {
    const char letter = text_[1];
    if (const char character = ShortEscape(letter); character != '\0') {
      out_ += character;
      text_.remove_prefix(2);
      return {};
    }
    const bool unicode = letter == 'u' || letter == 'U';
    if (unicode && bytes_) return text::Error("unable to unescape string");
    const auto [first, count, base] = NumberOf(letter);
    std::uint32_t code = 0;
    for (std::size_t i = first; i < first + count; ++i) {
      code = code * base + static_cast<std::uint32_t>(text::HexValue(text_[i]));
    }
    if (!bytes_ && !IsCodePoint(code)) return text::Error("invalid unicode code point");
    if (bytes_) {
      out_ += static_cast<char>(code);
    } else {
      text::AppendRune(code, out_);
    }
    text_.remove_prefix(first + count);
    return {};
  }

  string_view text_;
  bool bytes_;
  std::string out_;
};

// The magnitude of an integer; nullopt if it needs more than 64 bits.
std::optional<std::uint64_t> ParseMagnitude(string_view digits) {
  int base = 10;
  if (digits.starts_with("0x")) {
    base = 16;
    digits.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// The exponent of a double literal written as 0.d * 10^exponent, d being its first digit that is
// not 0.
std::int64_t DecimalExponent(string_view literal) {
  const std::size_t mark = std::min(literal.find_first_of("eE"), literal.size());
  const string_view mantissa = literal.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = std::min(mantissa.find_first_not_of("0."), mantissa.size());
  const auto scale =
      static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) + (first > point ? 1 : 0);
  if (mark == literal.size()) return scale;

  string_view digits = literal.substr(mark + 1);
  const bool negative = digits.starts_with('-');
  if (negative || digits.starts_with('+')) digits.remove_prefix(1);
  // Far from any mantissa's length: what does not fit is as good as this.
  std::int64_t exponent = 1'000'000'000;
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  return scale + (negative ? -exponent : exponent);
}

}  // namespace

text::Read<std::string> Unquote(string_view literal, bool bytes) {
  const bool raw = literal.starts_with('r') || literal.starts_with('R');
  if (raw) literal.remove_prefix(1);
  const string_view open = literal.substr(0, 3);
  const bool three = literal.size() >= 6 && (open == "'''" || open == "\"\"\"");
  const std::size_t quotes = three ? 3 : 1;
  const std::string text = NormalizeNewlines(literal.substr(quotes, literal.size() - 2 * quotes));
  if (raw || text.find('\\') == std::string::npos) return text;
  return Unescaper(text, bytes).Run();
}

std::optional<std::int64_t> ParseInt(string_view digits, bool negative) {
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const std::optional<std::uint64_t> magnitude = ParseMagnitude(digits);
  if (!magnitude || *magnitude > kLargest + (negative ? 1 : 0)) return std::nullopt;
  // Unsigned arithmetic wraps, so that the smallest number, which has no positive twin, comes out
  // too.
  return static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
}

std::optional<std::uint64_t> ParseUint(string_view literal) {
  literal.remove_suffix(1);
  return ParseMagnitude(literal);
}

std::optional<double> ParseDouble(string_view literal, bool negative) {
  double value = 0;
  const auto [end, error] = std::from_chars(literal.data(), literal.data() + literal.size(), value);
  if (error == std::errc::result_out_of_range || std::isinf(value)) {
    // from_chars does not tell what is too large from what is too small.
    if (DecimalExponent(literal) > 0) return std::nullopt;
    value = 0;
  }
  return negative ? -value : value;
}

}  // namespace apiserver::v0::cel::syntax
