#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// UTF-8 as Go's unicode/utf8 validates it.
namespace apiserver::inline v0::text {

// Stands for invalid runes and bytes.
inline constexpr std::uint32_t kReplacementRune = 0xFFFD;

// The length of the well-formed sequence that starts `text`, which must not be empty; 0: there is
// none (overlong, surrogate, out of range, truncated).
std::size_t Utf8SequenceLength(std::string_view text);
bool ValidUtf8(std::string_view text);
// `text` with every byte that starts no well-formed sequence replaced by U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view text);

// One character and its bytes.
struct Rune {
  std::uint32_t code = 0;
  std::string_view text;
};
// Returns the first rune of `text`, which must not be empty, as Go's range over a string does:
// kReplacementRune and one byte if no well-formed sequence starts there.
Rune FirstRune(std::string_view text);
// Appends the bytes of `code`, which is at most U+10FFFF.
void AppendRune(std::uint32_t code, std::string& out);

}  // namespace apiserver::inline v0::text
