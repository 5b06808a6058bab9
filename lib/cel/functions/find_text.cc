#include "cel/functions/find_text.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace apiserver::v0::cel::functions {
namespace {

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::size_t FindFirst(std::string_view text, std::string_view needle) {
  // glibc's memmem is linear, which string_view::find is not.
  const void* const found = memmem(text.data(), text.size(), needle.data(), needle.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// Searches backwards as Knuth, Morris and Pratt do forwards.
std::size_t FindLast(std::string_view text, std::string_view needle) {
  const std::size_t size = needle.size();
  if (size > text.size()) return std::string_view::npos;
  const auto from_end = [&needle, size](std::size_t i) { return needle[size - 1 - i]; };
  // The length of the longest border of the first i + 1 characters from the end.
  std::vector<std::uint32_t> border(size, 0);
  for (std::size_t i = 1, matched = 0; i < size; ++i) {
    while (matched > 0 && from_end(i) != from_end(matched)) matched = border[matched - 1];
    if (from_end(i) == from_end(matched)) ++matched;
    border[i] = static_cast<std::uint32_t>(matched);
  }
  for (std::size_t at = text.size(), matched = 0; at-- > 0;) {
    while (matched > 0 && text[at] != from_end(matched)) matched = border[matched - 1];
    if (text[at] == from_end(matched)) ++matched;
    if (matched == size) return at;
  }
  return std::string_view::npos;
}

std::optional<std::size_t> ByteOf(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) {
    ++at;
    while (at < text.size() && Continues(text[at])) ++at;
  }
  if (index > 0) return std::nullopt;
  return at;
}

}  // namespace apiserver::v0::cel::functions
