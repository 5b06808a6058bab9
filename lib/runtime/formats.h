#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

namespace apiserver::inline v0::runtime {

// Returns true if `text` has OpenAPI's `format`, or if that format is not checked.
bool MatchesFormat(std::string_view format, std::string_view text);

}  // namespace apiserver::inline v0::runtime
