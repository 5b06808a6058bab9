#pragma once

#include <string>
#include <string_view>

namespace apiserver::inline v0::runtime {

// `text` as it stands between the quotes of a JSON string that Go's encoding/json writes.
std::string EscapeJson(std::string_view text);
// What well-formed JSON says between two quotes, which need not be Go's.
std::string UnescapeJson(std::string_view json);

}  // namespace apiserver::inline v0::runtime
