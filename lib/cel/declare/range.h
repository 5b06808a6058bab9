#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "apiserver/cel/program.h"

// Ranges of sizes and costs: checker/cost.go of cel-go. All arithmetic saturates at 2^64 − 1.
namespace apiserver::inline v0::cel {

inline constexpr std::uint64_t kUnbounded = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t SaturatingAdd(std::uint64_t a, std::uint64_t b) {
  return a > kUnbounded - b ? kUnbounded : a + b;
}
constexpr std::uint64_t SaturatingMultiply(std::uint64_t a, std::uint64_t b) {
  if (a == 0 || b == 0) return 0;
  return a > kUnbounded / b ? kUnbounded : a * b;
}
// Returns ⌈value × factor⌉, as Go computes it in float64.
inline std::uint64_t MultiplyByFactor(std::uint64_t value, double factor) {
  const double product = static_cast<double>(value) * factor;
  // The round trip is faster than std::ceil, which is a call.
  if (product < 9007199254740992.0) {
    const auto whole = static_cast<std::int64_t>(product);
    return static_cast<std::uint64_t>(whole) + (static_cast<double>(whole) < product ? 1 : 0);
  }
  const double ceiling = std::ceil(product);
  return ceiling >= 18446744073709551615.0 ? kUnbounded : static_cast<std::uint64_t>(ceiling);
}

// The factors of cel-go's cost model: common/cost.go.
inline constexpr double kStringTraversal = 0.1;
inline constexpr double kRegexLength = 0.25;
inline constexpr std::uint64_t kListCost = 10;
inline constexpr std::uint64_t kMapCost = 30;
inline constexpr std::uint64_t kMessageCost = 40;

// A range of sizes: code points of a string, bytes, items of a list, entries of a map.
struct SizeRange {
  std::uint64_t min = 0;
  std::uint64_t max = kUnbounded;

  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

constexpr CostRange operator+(CostRange a, CostRange b) {
  return {SaturatingAdd(a.min, b.min), SaturatingAdd(a.max, b.max)};
}
constexpr CostRange operator*(CostRange a, CostRange b) {
  return {SaturatingMultiply(a.min, b.min), SaturatingMultiply(a.max, b.max)};
}
// The smallest range that contains both.
constexpr CostRange Union(CostRange a, CostRange b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}
constexpr SizeRange operator+(SizeRange a, SizeRange b) {
  return {SaturatingAdd(a.min, b.min), SaturatingAdd(a.max, b.max)};
}
constexpr SizeRange operator*(SizeRange a, SizeRange b) {
  return {SaturatingMultiply(a.min, b.min), SaturatingMultiply(a.max, b.max)};
}
constexpr SizeRange Union(SizeRange a, SizeRange b) {
  return {std::min(a.min, b.min), std::max(a.max, b.max)};
}
// The cost of something whose cost per element is `factor`, rounded up.
inline CostRange CostOf(SizeRange size, double factor) {
  return {MultiplyByFactor(size.min, factor), MultiplyByFactor(size.max, factor)};
}
// The cost of something that costs `each` per element.
constexpr CostRange CostOf(SizeRange size, CostRange each) {
  return CostRange{size.min, size.max} * each;
}

}  // namespace apiserver::inline v0::cel
