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

// As StdEncoding, which skips line breaks. nullopt: not base64; `error_at`, if not null, is then
// the offset that Go names.
std::optional<std::string> DecodeBase64(std::string_view text, std::size_t* error_at = nullptr);
// The same into `out`, which has room for Base64BytesMax(text.size()); how many bytes it became.
std::optional<std::size_t> DecodeBase64To(std::string_view text, char* out, std::size_t* error_at);
constexpr std::size_t Base64BytesMax(std::size_t characters) { return characters / 4 * 3 + 3; }

// As RawURLEncoding, which skips line breaks and overlooks bits that stand for nothing.
std::optional<std::string> DecodeLooseBase64Url(std::string_view text, std::size_t* error_at);
// As RFC 7515 wants it, one text for each sequence of bytes: nullopt too where the loose one skips
// or overlooks something.
std::optional<std::string> DecodeBase64Url(std::string_view text);

}  // namespace apiserver::inline v0::text
