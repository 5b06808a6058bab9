#pragma once

#include <cstdint>
#include <string>

// Numbers as golang.org/x/text/message prints them in English.
namespace apiserver::inline v0::cel::functions {

// Prints %.Nf: "1,234,567.100", "∞", "NaN". Go keeps the least number of fraction digits in 8 bits
// and the greatest in 16, which shows above 255.
std::string EnglishFixed(double number, std::uint64_t precision);
// Prints %Ne: "1.234500×10⁰³", with 6 digits behind the point and blanks before it up to `width`.
std::string EnglishScientific(double number, std::uint64_t width);

}  // namespace apiserver::inline v0::cel::functions
