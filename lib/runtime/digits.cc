#include "runtime/digits.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace apiserver::v0::runtime::digits {

namespace {

std::uint64_t DigitAt(std::string_view digits, std::size_t from_the_right) {
  if (from_the_right >= digits.size()) return 0;
  return static_cast<std::uint64_t>(digits[digits.size() - 1 - from_the_right] - '0');
}

char DigitChar(std::uint64_t digit) { return static_cast<char>('0' + digit); }

}  // namespace

// Zero is the empty text, so that every number has exactly one form and Compare() needs no
// trimming.
std::string Of(std::uint64_t number) { return number == 0 ? "" : std::to_string(number); }

void TrimLeadingZeros(std::string& digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
}

int Compare(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  const int order = a.compare(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

std::string Add(std::string_view a, std::string_view b) {
  const std::size_t size = std::max(a.size(), b.size()) + 1;
  std::string sum(size, '0');
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < size; ++i) {
    carry += DigitAt(a, i) + DigitAt(b, i);
    sum[size - 1 - i] = DigitChar(carry % 10);
    carry /= 10;
  }
  TrimLeadingZeros(sum);
  return sum;
}

// Requires a >= b: a borrow beyond the first digit would be lost.
std::string Subtract(std::string_view a, std::string_view b) {
  std::string difference(a);
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint64_t digit = 10 + DigitAt(a, i) - DigitAt(b, i) - borrow;
    difference[a.size() - 1 - i] = DigitChar(digit % 10);
    borrow = digit < 10 ? 1 : 0;
  }
  TrimLeadingZeros(difference);
  return difference;
}

void Multiply(std::string& digits, std::uint64_t factor) {
  std::uint64_t carry = 0;
  for (std::size_t i = digits.size(); i-- > 0;) {
    carry += static_cast<std::uint64_t>(digits[i] - '0') * factor;
    digits[i] = DigitChar(carry % 10);
    carry /= 10;
  }
  digits.insert(0, Of(carry));
  TrimLeadingZeros(digits);
}

std::uint64_t Divide(std::string& digits, std::uint64_t divisor) {
  std::uint64_t rest = 0;
  for (char& c : digits) {
    rest = rest * 10 + static_cast<std::uint64_t>(c - '0');
    c = DigitChar(rest / divisor);
    rest %= divisor;
  }
  TrimLeadingZeros(digits);
  return rest;
}

std::uint64_t ToUint64(std::string_view digits) {
  if (digits.empty()) return 0;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() ? number : std::numeric_limits<std::uint64_t>::max();
}

}  // namespace apiserver::v0::runtime::digits
