#pragma once  // Library-internal: other rooms include this header.

#include <span>
#include <string>
#include <string_view>

// The pieces of header syntax that both protocols need.
namespace apiserver::inline v0::http {

// Returns whether the comma-separated list `value` holds `token`, without regard to case.
bool HasToken(std::string_view value, std::string_view token);
// Returns `text` without spaces and tabs at both ends.
std::string_view Trim(std::string_view text);
// Appends `value` with what could end a line replaced by spaces, as Go's net/http does.
void AppendSafe(std::string& out, std::string_view value);
// Returns whether `name` is a header name: not empty, and of token characters only.
bool IsToken(std::string_view name);
// Writes a header name in lower case to `out`, which is as long. False: it is no header name.
bool LowerToken(std::string_view name, std::span<char> out);

}  // namespace apiserver::inline v0::http
