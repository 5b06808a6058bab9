#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Describes why a text is not JSON, in the words of Go's encoding/json.
namespace apiserver::inline v0::codec {

// "invalid character 'x' looking for beginning of value", "unexpected end of JSON input",
// "exceeded max depth"; empty: nothing, the text is JSON. Slow: only for texts already refused.
std::string JsonSyntaxError(std::string_view text, std::size_t depth_max = 10'000);

// The length of the JSON string literal (quotes included) that starts `text`; npos: unterminated.
std::size_t JsonStringLength(std::string_view text);

}  // namespace apiserver::inline v0::codec
