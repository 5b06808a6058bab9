#include "codec/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "text/ascii.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Value;
using Kind = YamlScalar::Kind;

struct Word {
  std::string_view text;
  Kind kind;
  Value value;
};

const Word* FindWord(std::string_view text) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const Value yes = Value::Bool(true);
  const Value no = Value::Bool(false);
  const Value nan = Value::Double(std::numeric_limits<double>::quiet_NaN());
  const Value inf = Value::Double(kInf);
  const Value minus_inf = Value::Double(-kInf);
  static const std::array<Word, 39> words = {{
      {"y", Kind::kBool, yes},
      {"Y", Kind::kBool, yes},
      {"yes", Kind::kBool, yes},
      {"Yes", Kind::kBool, yes},
      {"YES", Kind::kBool, yes},
      {"true", Kind::kBool, yes},
      {"True", Kind::kBool, yes},
      {"TRUE", Kind::kBool, yes},
      {"on", Kind::kBool, yes},
      {"On", Kind::kBool, yes},
      {"ON", Kind::kBool, yes},
      {"n", Kind::kBool, no},
      {"N", Kind::kBool, no},
      {"no", Kind::kBool, no},
      {"No", Kind::kBool, no},
      {"NO", Kind::kBool, no},
      {"false", Kind::kBool, no},
      {"False", Kind::kBool, no},
      {"FALSE", Kind::kBool, no},
      {"off", Kind::kBool, no},
      {"Off", Kind::kBool, no},
      {"OFF", Kind::kBool, no},
      {"", Kind::kNull, {}},
      {"~", Kind::kNull, {}},
      {"null", Kind::kNull, {}},
      {"Null", Kind::kNull, {}},
      {"NULL", Kind::kNull, {}},
      {".nan", Kind::kFloat, nan},
      {".NaN", Kind::kFloat, nan},
      {".NAN", Kind::kFloat, nan},
      {".inf", Kind::kFloat, inf},
      {".Inf", Kind::kFloat, inf},
      {".INF", Kind::kFloat, inf},
      {"+.inf", Kind::kFloat, inf},
      {"+.Inf", Kind::kFloat, inf},
      {"+.INF", Kind::kFloat, inf},
      {"-.inf", Kind::kFloat, minus_inf},
      {"-.Inf", Kind::kFloat, minus_inf},
      {"-.INF", Kind::kFloat, minus_inf},
  }};
  // No word is longer than "false".
  if (text.size() > 5) return nullptr;
  const auto found =
      std::find_if(words.begin(), words.end(), [&](const Word& word) { return word.text == text; });
  return found == words.end() ? nullptr : &*found;
}

// As strconv.ParseUint(text, 0, 64).
std::optional<std::uint64_t> ParseUint(std::string_view text) {
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 0;
    text.remove_prefix(base == 0 ? 1 : 2);
    if (base == 0) base = 8;
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// As strconv.ParseInt(text, 0, 64).
std::optional<std::int64_t> ParseInt(std::string_view text) {
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) return std::nullopt;
  const std::optional<std::uint64_t> number = ParseUint(text);
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (!number || *number > kMax + (minus ? 1 : 0)) return std::nullopt;
  return minus ? static_cast<std::int64_t>(0 - *number) : static_cast<std::int64_t>(*number);
}

std::size_t SkipDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && text::IsDigit(text[at])) ++at;
  return at;
}

// ^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$
bool LooksLikeFloat(std::string_view text) {
  std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const std::size_t whole = SkipDigits(text, at);
  const bool has_whole = whole > at;
  at = whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction = SkipDigits(text, at + 1);
    if (!has_whole && fraction == at + 1) return false;
    at = fraction;
  } else if (!has_whole) {
    return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    const std::size_t exponent = SkipDigits(text, at);
    if (exponent == at) return false;
    at = exponent;
  }
  return at == text.size();
}

// nullopt: too large. Too small is zero, as in Go.
std::optional<double> ParseFloat(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc()) return number;
  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-')) return 0.0;
  return std::nullopt;
}

// Takes one or two digits (four for a year) whose number is in [low, high].
bool TakeNumber(std::string_view& text, std::size_t digits_max, int low, int high, int* out) {
  std::size_t digits = 0;
  int number = 0;
  while (digits < digits_max && digits < text.size() && text::IsDigit(text[digits])) {
    number = number * 10 + (text[digits++] - '0');
  }
  if (digits == 0 || number < low || number > high) return false;
  text.remove_prefix(digits);
  *out = number;
  return true;
}

bool Take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

bool TakeClock(std::string_view& text) {
  int ignored = 0;
  if (!TakeNumber(text, 2, 0, 23, &ignored) || !Take(text, ':')) return false;
  if (!TakeNumber(text, 2, 0, 59, &ignored) || !Take(text, ':')) return false;
  if (!TakeNumber(text, 2, 0, 59, &ignored)) return false;
  if (text.size() > 1 && (text[0] == '.' || text[0] == ',') && text::IsDigit(text[1])) {
    text.remove_prefix(SkipDigits(text, 1));
  }
  return true;
}

bool IsZone(std::string_view text) {
  if (text == "Z") return true;
  if (text.size() != 6 || (text[0] != '+' && text[0] != '-') || text[3] != ':') return false;
  return text::IsDigit(text[1]) && text::IsDigit(text[2]) && text::IsDigit(text[4]) &&
         text::IsDigit(text[5]);
}

// The formats of yaml.v2's parseTimestamp.
bool IsTimestamp(std::string_view text) {
  if (text.size() < 5 || SkipDigits(text, 0) != 4 || text[4] != '-') return false;
  int year = 0;
  int month = 0;
  int day = 0;
  if (!TakeNumber(text, 4, 0, 9999, &year) || !Take(text, '-')) return false;
  if (!TakeNumber(text, 2, 1, 12, &month) || !Take(text, '-')) return false;
  constexpr std::array<int, 12> kDays = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (!TakeNumber(text, 2, 1, kDays[static_cast<std::size_t>(month - 1)], &day)) return false;
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  if (month == 2 && day == 29 && !leap) return false;
  if (text.empty()) return true;
  if (Take(text, 'T') || Take(text, 't')) return TakeClock(text) && IsZone(text);
  return Take(text, ' ') && TakeClock(text) && text.empty();
}

YamlScalar Number(std::string_view text) {
  if (IsTimestamp(text)) return {Kind::kTimestamp, {}};
  std::string plain(text);
  std::erase(plain, '_');
  if (const auto number = ParseInt(plain)) return {Kind::kInt, Value::Int(*number)};
  if (const auto number = ParseUint(plain)) {
    return {Kind::kUint, Value::Double(static_cast<double>(*number))};
  }
  if (LooksLikeFloat(plain)) {
    if (const auto number = ParseFloat(plain)) return {Kind::kFloat, Value::Double(*number)};
  }
  return {};
}

bool IsLetter(char c) {
  // Nearly all characters beyond ASCII are letters.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}

// The digits at `at` as a number, wrapping as Go's int64 does.
std::uint64_t NumberAt(std::string_view text, std::size_t at, std::size_t* end) {
  std::uint64_t number = 0;
  for (*end = at; *end < text.size() && text::IsDigit(text[*end]); ++*end) {
    number = number * 10 + static_cast<std::uint64_t>(text[*end] - '0');
  }
  return number;
}

}  // namespace

YamlScalar ResolveYamlScalar(std::string_view text) {
  if (text == "<<") return {Kind::kMerge, {}};
  if (const Word* word = FindWord(text)) return {word->kind, word->value};
  // The empty text is a word, so that there is a first character here.
  const char first = text.front();
  if (first == '.') {
    const bool float_text = LooksLikeFloat(text);
    const std::optional<double> number = float_text ? ParseFloat(text) : std::nullopt;
    if (number) return {Kind::kFloat, Value::Double(*number)};
    return {};
  }
  if (first == '+' || first == '-' || text::IsDigit(first)) return Number(text);
  return {};
}

// YAML 1.1 reads "1:30" as 90, so that the writer quotes a string of this form.
bool IsBase60Number(std::string_view text) {
  // ^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$
  std::size_t at = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  if (at >= text.size() || !text::IsDigit(text[at])) return false;
  while (at < text.size() && (text::IsDigit(text[at]) || text[at] == '_')) ++at;
  std::size_t parts = 0;
  while (at < text.size() && text[at] == ':') {
    const std::size_t digits = SkipDigits(text, at + 1) - (at + 1);
    if (digits < 1 || digits > 2 || (digits == 2 && text[at + 1] > '5')) return false;
    at += 1 + digits;
    ++parts;
  }
  if (parts == 0) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    while (at < text.size() && (text::IsDigit(text[at]) || text[at] == '_')) ++at;
  }
  return at == text.size();
}

// Follows strconv.FormatFloat with 'g': plain digits for exponents from -4 to 5.
std::string FormatYamlFloat(double number, int bits) {
  // A key is a float of 32 bits, in which a large number is infinite.
  if (bits == 32) number = static_cast<float>(number);
  if (std::isnan(number)) return ".nan";
  if (std::isinf(number)) return number > 0 ? ".inf" : "-.inf";
  std::array<char, 64> text;
  const auto scientific = std::chars_format::scientific;
  char* const end =
      bits == 32 ? std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(number),
                                 scientific)
                       .ptr
                 : std::to_chars(text.data(), text.data() + text.size(), number, scientific).ptr;
  std::string out(text.data(), end);
  const std::size_t e = out.find('e');
  int exponent = 0;
  std::from_chars(out.data() + e + 2, out.data() + out.size(), exponent);
  if (out[e + 1] == '-') exponent = -exponent;
  if (exponent < -4 || exponent >= 6) return out;
  std::string sign = out.starts_with('-') ? "-" : "";
  std::string digits = out.substr(sign.size(), e - sign.size());
  std::erase(digits, '.');
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0');
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

// Follows keyList.Less of yaml.v2, which orders the numbers in keys as numbers.
bool YamlKeyLess(std::string_view a, std::string_view b) {
  const auto mismatch = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto i = static_cast<std::size_t>(mismatch.first - a.begin());
  if (i == a.size() || i == b.size()) return a.size() < b.size();
  const bool a_letter = IsLetter(a[i]);
  const bool b_letter = IsLetter(b[i]);
  const auto byte_less = [&] {
    return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
  };
  if (a_letter && b_letter) return byte_less();
  if (a_letter || b_letter) return b_letter;
  // A zero behind other digits of the same number is no leading zero.
  bool within_number = false;
  if (a[i] == '0' || b[i] == '0') {
    for (std::size_t j = i; j-- > 0 && text::IsDigit(a[j]);) {
      if (a[j] != '0') within_number = true;
    }
  }
  std::size_t a_end = 0;
  std::size_t b_end = 0;
  std::uint64_t a_number = NumberAt(a, i, &a_end);
  std::uint64_t b_number = NumberAt(b, i, &b_end);
  if (within_number) {
    // yaml.v2 compares as if a digit other than zero stood before both.
    const auto lead = [](std::size_t digits) {
      std::uint64_t power = 1;
      while (digits-- > 0) power *= 10;
      return power;
    };
    a_number += lead(a_end - i);
    b_number += lead(b_end - i);
  }
  if (a_number != b_number) {
    return static_cast<std::int64_t>(a_number) < static_cast<std::int64_t>(b_number);
  }
  if (a_end != b_end) return a_end < b_end;
  return byte_less();
}

}  // namespace apiserver::v0::codec
