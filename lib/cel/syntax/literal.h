#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/read.h"

// Values of literals' texts: parser/unescape.go of cel-go.
namespace apiserver::inline v0::cel::syntax {

// The characters of a string literal, given with its prefix and quotes; `bytes`: of a bytes literal
// without its b, whose \x and octal escapes are octets. Errors, in cel-go's words, are escapes that
// name no code point, and \u and \U among bytes.
text::Read<std::string> Unquote(std::string_view literal, bool bytes);

// The value of an int literal, decimal or 0x and hexadecimal; nullopt if it is out of range.
std::optional<std::int64_t> ParseInt(std::string_view digits, bool negative);
// The value of a uint literal with its u.
std::optional<std::uint64_t> ParseUint(std::string_view literal);
// The value of a double literal; nullopt if it is too large. What is too small becomes 0.
std::optional<double> ParseDouble(std::string_view literal, bool negative);

}  // namespace apiserver::inline v0::cel::syntax
