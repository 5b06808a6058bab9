#pragma once  // Library-internal: other rooms include this header.

#include <chrono>
#include <string>
#include <string_view>

#include "text/read.h"

// Durations as Go's time package reads and writes them.
namespace apiserver::inline v0::text {

// "1h2m3s", "1.5s", "-300ms".
Read<std::chrono::nanoseconds> ParseDuration(std::string_view text);
// "1h0m0s", "1.5s", "2ms", "0s".
std::string FormatDuration(std::chrono::nanoseconds duration);

}  // namespace apiserver::inline v0::text
