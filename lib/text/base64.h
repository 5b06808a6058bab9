#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// base64 as Go's encoding/base64 writes and reads it.
namespace apiserver::inline v0::text {

// StdEncoding, with padding.
void AppendBase64(std::string_view bytes, std::string& out);
// RawURLEncoding: without padding, '-' and '_' for '+' and '/'.
void AppendBase64Url(std::string_view bytes, std::string& out);

// Decodes StdEncoding and skips line breaks. nullopt: not base64; `error_at`, if not null, is then
// the offset that Go names.
std::optional<std::string> DecodeBase64(std::string_view text, std::size_t* error_at = nullptr);
// The same into `out`, which has room for Base64BytesMax(text.size()). Returns the number of bytes
// written.
std::optional<std::size_t> DecodeBase64To(std::string_view text, char* out, std::size_t* error_at);
constexpr std::size_t Base64BytesMax(std::size_t characters) { return characters / 4 * 3 + 3; }

// Decodes RawURLEncoding, skips line breaks, and ignores trailing bits that encode no byte.
std::optional<std::string> DecodeLooseBase64Url(std::string_view text, std::size_t* error_at);
// Decodes base64url as RFC 7515 requires it: each sequence of bytes has one text. nullopt: not
// base64url, or a text in which the loose decoder skips or ignores something.
std::optional<std::string> DecodeBase64Url(std::string_view text);

}  // namespace apiserver::inline v0::text
