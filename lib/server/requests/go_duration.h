#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace apiserver::inline v0::server {

// Go's time.ParseDuration: "300ms", "-1.5h", "2h45m"; nullopt when malformed or out of range.
std::optional<std::chrono::nanoseconds> ParseGoDuration(std::string_view text);

}  // namespace apiserver::inline v0::server
