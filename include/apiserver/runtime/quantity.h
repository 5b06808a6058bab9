#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

namespace apiserver::inline v0::runtime {

// A fixed-point number of any size with a suffix, as resource.Quantity: "100m", "1.5Gi", "12e6".
// A value; cheap to copy for numbers that people write.
class Quantity {
 public:
  enum class Format : std::uint8_t {
    kDecimalExponent,  // 12e6.
    kBinarySI,         // 12Mi.
    kDecimalSI,        // 12M.
  };

  Quantity() = default;  // Zero, which prints as "0".
  // `value` times ten to the power of `scale`.
  explicit Quantity(std::int64_t value, int scale = 0, Format format = Format::kDecimalSI);
  // kBadRequest: no quantity, in Go's words. Finer than 1n is rounded away from zero; more than
  // 2^63-1 with a binary suffix is cut to that.
  static Result<Quantity> Parse(std::string_view text);

  // The canonical text; what was parsed keeps its own where Go keeps it ("1500m", "12e3").
  std::string ToString() const;
  Format format() const { return format_; }

  bool is_zero() const { return digits_.empty(); }
  // -1, 0 or 1.
  int sign() const;
  // Times ten to the power of -`scale`, rounded away from zero; the nearest int64 beyond its range.
  std::int64_t ScaledValue(int scale) const;
  std::int64_t Value() const { return ScaledValue(0); }
  std::int64_t MilliValue() const { return ScaledValue(-3); }
  double AsDouble() const;

  // A zero takes the other's format, as in Go.
  void Add(const Quantity& other);
  void Subtract(const Quantity& other);
  void Negate();

  // Of the numbers: "1" and "1000m" are equal.
  friend int Compare(const Quantity& a, const Quantity& b);
  friend bool operator==(const Quantity& a, const Quantity& b) { return Compare(a, b) == 0; }
  friend bool operator<(const Quantity& a, const Quantity& b) { return Compare(a, b) < 0; }

 private:
  void Strip();
  // Drops digits below ten to the power of `scale`, away from zero; says whether none was lost.
  bool RoundUp(std::int64_t scale);
  void AddSigned(std::string_view digits, std::int64_t scale, bool negative);
  std::string Canonical() const;

  bool negative_ = false;
  std::string digits_;      // Decimal, without leading and trailing zeros; empty: zero.
  std::int64_t scale_ = 0;  // Of the last digit, as a power of ten.
  Format format_ = Format::kDecimalSI;
  std::string text_;  // As parsed, if that is how it prints.
};

}  // namespace apiserver::inline v0::runtime
