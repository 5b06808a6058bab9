#pragma once  // Library-internal: other rooms include this header.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

// Quoted texts as Go's fmt and strconv print them.
namespace apiserver::inline v0::text {

// %q of a string.
std::string Quote(std::string_view text);
// %q of a []string: `["a" "b"]`.
std::string QuoteAll(std::span<const std::string> texts);
// Go's unicode.IsPrint.
bool IsPrint(std::uint32_t code);

}  // namespace apiserver::inline v0::text
