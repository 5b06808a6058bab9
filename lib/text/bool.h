#pragma once  // Library-internal: other rooms include this header.

#include <optional>
#include <string_view>

namespace apiserver::inline v0::text {

// Reads the words of Go's strconv.ParseBool. nullopt: it is none of them.
inline std::optional<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "false", "FALSE", "False"}) {
    if (text == no) return false;
  }
  return std::nullopt;
}

}  // namespace apiserver::inline v0::text
