#pragma once

#include <cstdint>
#include <string>
#include <string_view>

// Arithmetic on natural numbers of any size, written as decimal digits without leading zeros; zero
// is empty. Quantities have few digits, and those of attackers cost linear time.
namespace apiserver::inline v0::runtime::digits {

std::string Of(std::uint64_t number);
void TrimLeadingZeros(std::string& digits);
int Compare(std::string_view a, std::string_view b);
std::string Add(std::string_view a, std::string_view b);
// `a` must not be less than `b`.
std::string Subtract(std::string_view a, std::string_view b);
// `factor` and `divisor` are at most 10^9.
void Multiply(std::string& digits, std::uint64_t factor);
// Returns the remainder.
std::uint64_t Divide(std::string& digits, std::uint64_t divisor);
// The nearest that fits.
std::uint64_t ToUint64(std::string_view digits);

}  // namespace apiserver::inline v0::runtime::digits
