#pragma once  // Library-internal: other rooms include this header.

#include <string>
#include <string_view>

// Strings of JSON as Go's encoding/json writes them: <, >, &, U+2028 and U+2029 are escaped too,
// and invalid UTF-8 becomes U+FFFD.
namespace apiserver::inline v0::text {

// A quoted string.
void AppendJsonString(std::string_view text, std::string& out);
// Returns `text` as it stands between the quotes of a JSON string.
std::string EscapeJson(std::string_view text);
// Reads what stands between two quotes of well-formed JSON, which need not be Go's.
std::string UnescapeJson(std::string_view json);

}  // namespace apiserver::inline v0::text
