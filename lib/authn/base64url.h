#pragma once

#include <optional>
#include <string>
#include <string_view>

// base64url without padding, as RFC 7515 wants it.
namespace apiserver::inline v0::authn {

void AppendBase64Url(std::string_view bytes, std::string& out);
// nullopt: another character, a length that cannot be, or bits set that stand for nothing: one text
// for each sequence of bytes.
std::optional<std::string> DecodeBase64Url(std::string_view text);

}  // namespace apiserver::inline v0::authn
