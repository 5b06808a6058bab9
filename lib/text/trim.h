#pragma once  // Library-internal: other rooms include this header.

#include <string_view>

namespace apiserver::inline v0::text {

// Returns `text` without the white space of Unicode at both ends, as Go's strings.TrimSpace.
std::string_view TrimSpace(std::string_view text);

}  // namespace apiserver::inline v0::text
