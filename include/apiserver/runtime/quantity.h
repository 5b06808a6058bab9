#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::runtime {

// A fixed-point number of any size with a suffix, as resource.Quantity: "100m", "1.5Gi", "12e6".
// A value type; cheap to copy for numbers of usual length.
class Quantity {
 public:
  // The form of the suffix.
  enum class Format : std::uint8_t {
    kDecimalExponent,  // 12e6.
    kBinarySI,         // 12Mi.
    kDecimalSI,        // 12M.
  };

  Quantity() = default;  // Zero, which prints as "0".
  // Makes `value` times ten to the power of `scale`.
  explicit Quantity(std::int64_t value, int scale = 0, Format format = Format::kDecimalSI);
  // Parses a quantity. Precision below 1n is rounded away from zero; a value above 2^63-1 with a
  // binary suffix is capped there. kBadRequest: `text` is not a quantity; the message is Go's.
  static Result<Quantity> Parse(std::string_view text);

  // Returns the canonical text, or the parsed text where Go keeps it ("1500m", "12e3").
  std::string ToString() const;
  Format format() const { return format_; }

  bool is_zero() const { return digits_.empty(); }
  // Returns -1, 0 or 1.
  int sign() const;
  // Returns the number times ten to the power of -`scale`, rounded away from zero. Out of range:
  // the nearest int64.
  std::int64_t ScaledValue(int scale) const;
  std::int64_t Value() const { return ScaledValue(0); }
  std::int64_t MilliValue() const { return ScaledValue(-3); }
  double AsDouble() const;

  // Add or subtract `other`. A zero takes the other's format, as in Go.
  void Add(const Quantity& other);
  void Subtract(const Quantity& other);
  void Negate();

  // Compares the numbers: "1" and "1000m" are equal.
  friend int Compare(const Quantity& a, const Quantity& b);
  friend bool operator==(const Quantity& a, const Quantity& b) { return Compare(a, b) == 0; }
  friend bool operator<(const Quantity& a, const Quantity& b) { return Compare(a, b) < 0; }

 private:
  void Strip();
  // Rounds away from zero to ten to the power of `scale`. Returns true if no digit was lost.
  bool RoundUp(std::int64_t scale);
  void AddSigned(std::string_view digits, std::int64_t scale, bool negative);
  std::string Canonical() const;

  bool negative_ = false;
  std::string digits_;      // Decimal, without leading and trailing zeros; empty: zero.
  std::int64_t scale_ = 0;  // The power of ten of the last digit.
  Format format_ = Format::kDecimalSI;
  std::string text_;  // The parsed text, if ToString() returns it; else empty.
};

}  // namespace apiserver::inline v0::runtime
