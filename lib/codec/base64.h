#pragma once  // Library-internal: other rooms include this header.

#include <optional>
#include <string>
#include <string_view>

// Standard base64 with padding, as Go's encoding/base64.StdEncoding.
namespace apiserver::inline v0::codec {

void AppendBase64(std::string_view bytes, std::string& out);
// nullopt: not base64. Line breaks are skipped, as Go does.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace apiserver::inline v0::codec
