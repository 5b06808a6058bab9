#include "cel/functions/english_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

#include "cel/run/size.h"

namespace apiserver::inline v0::cel::functions {
namespace {

// Go's parser of verbs gives up on longer numbers.
constexpr std::uint64_t kNumberMax = 10'000'009;
constexpr std::string_view kNoVerb = "%!(NOVERB)";

// Returns the text of NaN and the infinities. Empty: the number is finite.
std::string SpecialNumber(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-∞" : "∞";
  return "";
}

// Prints with `digits` behind the point; negative: with as many as read back.
std::string PlainFixed(double number, int digits) {
  constexpr std::size_t kIntegerDigitsMax = 320;
  std::string text(kIntegerDigitsMax + static_cast<std::size_t>(std::max(digits, 0)) +
                       std::numeric_limits<double>::max_digits10 + kIntegerDigitsMax,
                   '\0');
  char* const end = text.data() + text.size();
  const auto result =
      digits < 0 ? std::to_chars(text.data(), end, number, std::chars_format::fixed)
                 : std::to_chars(text.data(), end, number, std::chars_format::fixed, digits);
  text.resize(static_cast<std::size_t>(result.ptr - text.data()));
  return text;
}

std::string GroupThousands(std::string_view digits) {
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

void AppendSuperscript(std::string_view digits, std::string& out) {
  constexpr std::array<std::string_view, 10> kDigits = {"⁰", "¹", "²", "³", "⁴",
                                                        "⁵", "⁶", "⁷", "⁸", "⁹"};
  for (const char digit : digits) out += kDigits[static_cast<std::size_t>(digit - '0')];
}

}  // namespace

std::string EnglishFixed(double number, std::uint64_t precision) {
  if (precision > kNumberMax) return std::string(kNoVerb);
  if (std::string special = SpecialNumber(number); !special.empty()) return special;
  const std::size_t least = static_cast<std::uint8_t>(precision);
  const int most = static_cast<std::int16_t>(static_cast<std::uint16_t>(precision));
  const std::string plain = PlainFixed(std::fabs(number), most);
  const std::size_t point = std::min(plain.find('.'), plain.size());
  std::string fraction = point < plain.size() ? plain.substr(point + 1) : "";
  while (fraction.size() > least && fraction.back() == '0') fraction.pop_back();
  if (fraction.size() < least) fraction.resize(least, '0');
  std::string text = number < 0 ? "-" : "";
  text += GroupThousands(std::string_view(plain).substr(0, point));
  return fraction.empty() ? text : text + "." + fraction;
}

std::string EnglishScientific(double number, std::uint64_t width) {
  if (width > kNumberMax) return std::string(kNoVerb);
  std::string text = SpecialNumber(number);
  if (text.empty()) {
    constexpr int kDigits = 6;
    std::array<char, 32> buffer{};
    const auto [end, error] =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), number == 0 ? 0.0 : number,
                      std::chars_format::scientific, kDigits);
    // "1.234500e+03"
    const std::string_view plain(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    const std::size_t mark = plain.find('e');
    text = plain.substr(0, mark);
    text += "×10";
    if (plain[mark + 1] == '-') text += "⁻";
    AppendSuperscript(plain.substr(mark + 2), text);
  }
  const std::size_t padded = static_cast<std::uint16_t>(width);
  const std::size_t characters = CodePoints(text);
  return characters < padded ? std::string(padded - characters, ' ') + text : text;
}

}  // namespace apiserver::inline v0::cel::functions
