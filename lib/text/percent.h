#pragma once  // Library-internal: other rooms include this header.

#include <optional>
#include <string>
#include <string_view>

// Percent-encoding: a percent sign and two hexadecimal digits.
namespace apiserver::inline v0::text {

// Decodes the escapes. nullopt: one is malformed.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space = false);
// Escapes everything but letters, digits and "-._~".
std::string PercentEncode(std::string_view text);
void AppendPercentEscape(char c, std::string& out);

}  // namespace apiserver::inline v0::text
