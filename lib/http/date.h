#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace apiserver::inline v0::http {

// Formats a time as headers have it, whatever the process's locale: "Sun, 06 Nov 1994 08:49:37 GMT"
// (RFC 9110, 5.6.7).
std::string FormatDate(std::chrono::sys_seconds when);

// Reads that form and no other; servers send neither of the two old ones. nullopt: `text` is
// something else, or no day of the calendar.
std::optional<std::chrono::sys_seconds> ParseDate(std::string_view text);

}  // namespace apiserver::inline v0::http
