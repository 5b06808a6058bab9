#include "text/trim.h"

#include <cstdint>

#include "text/utf8.h"

namespace apiserver::v0::text {

namespace {

// Unicode's property White_Space, as Go's unicode.IsSpace.
bool IsSpace(std::uint32_t rune) {
  if (rune <= 0x20) return rune == 0x20 || (rune >= 0x09 && rune <= 0x0D);
  switch (rune) {
    case 0x85:
    case 0xA0:
    case 0x1680:
    case 0x2028:
    case 0x2029:
    case 0x202F:
    case 0x205F:
    case 0x3000:
      return true;
    default:
      return rune >= 0x2000 && rune <= 0x200A;
  }
}

// Returns the last rune of `text`, which must not be empty.
Rune LastRune(std::string_view text) {
  // No sequence is longer than four bytes.
  for (std::size_t bytes = text.size() < 4 ? text.size() : 4; bytes > 1; --bytes) {
    const std::string_view tail = text.substr(text.size() - bytes);
    if (Utf8SequenceLength(tail) == bytes) return FirstRune(tail);
  }
  return FirstRune(text.substr(text.size() - 1));
}

}  // namespace

std::string_view TrimSpace(std::string_view text) {
  while (!text.empty()) {
    const Rune first = FirstRune(text);
    if (!IsSpace(first.code)) break;
    text.remove_prefix(first.text.size());
  }
  while (!text.empty()) {
    const Rune last = LastRune(text);
    if (!IsSpace(last.code)) break;
    text.remove_suffix(last.text.size());
  }
  return text;
}

}  // namespace apiserver::v0::text
