#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

// Numbers that are equal in two types: common/types/overflow.go of cel-go.
namespace apiserver::inline v0::cel {

inline constexpr double kTwoTo63 = 9223372036854775808.0;
inline constexpr double kTwoTo64 = 18446744073709551616.0;

// Return the whole part of a double. nullopt: it is not in the range, whose ends are excluded for
// int.
inline std::optional<std::int64_t> ToInt(double number) {
  if (!(number > -kTwoTo63 && number < kTwoTo63)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}
inline std::optional<std::uint64_t> ToUint(double number) {
  if (!(number >= 0 && number < kTwoTo64)) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

// Return the integer that a double is. nullopt: it is none, or out of range.
inline std::optional<std::int64_t> LosslessInt(double number) {
  const std::optional<std::int64_t> integer = ToInt(number);
  if (integer.has_value() && static_cast<double>(*integer) != number) return std::nullopt;
  return integer;
}
inline std::optional<std::uint64_t> LosslessUint(double number) {
  const std::optional<std::uint64_t> natural = ToUint(number);
  if (natural.has_value() && static_cast<double>(*natural) != number) return std::nullopt;
  return natural;
}

}  // namespace apiserver::inline v0::cel
