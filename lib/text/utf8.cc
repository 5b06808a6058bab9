#include "text/utf8.h"

#include "text/scan.h"

namespace apiserver::v0::text {
namespace {

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::size_t Utf8SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  // 0xC0 and 0xC1 would begin overlong forms, 0xF5 and above code points past U+10FFFF.
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  if (lead == 0xE0 && second < 0xA0) return 0;  // Overlong.
  if (lead == 0xED && second > 0x9F) return 0;  // Surrogates.
  if (lead == 0xF0 && second < 0x90) return 0;  // Overlong.
  if (lead == 0xF4 && second > 0x8F) return 0;  // Above U+10FFFF.
  return length;
}

bool ValidUtf8(std::string_view text) {
  for (;;) {
    text.remove_prefix(AsciiPrefix(text));
    while (!text.empty() && static_cast<unsigned char>(text[0]) >= 0x80) {
      const std::size_t length = Utf8SequenceLength(text);
      if (length == 0) return false;
      text.remove_prefix(length);
    }
    if (text.empty()) return true;
  }
}

std::string ReplaceInvalidUtf8(std::string_view text) {
  std::string clean;
  clean.reserve(text.size() + 64);
  while (!text.empty()) {
    const std::size_t length = Utf8SequenceLength(text);
    if (length == 0) {
      // One U+FFFD for each byte, as when Go ranges over a string.
      clean += "\xEF\xBF\xBD";
      text.remove_prefix(1);
      continue;
    }
    clean.append(text.substr(0, length));
    text.remove_prefix(length);
  }
  return clean;
}

Rune FirstRune(std::string_view text) {
  const std::size_t length = Utf8SequenceLength(text);
  if (length == 0) return {kReplacementRune, text.substr(0, 1)};
  const std::uint32_t first = static_cast<unsigned char>(text[0]);
  if (length == 1) return {first, text.substr(0, 1)};
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    code = code << 6U | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  return {code, text.substr(0, length)};
}

void AppendRune(std::uint32_t code, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0U | code >> 6U);
  } else {
    if (code < 0x10000) {
      put(0xE0U | code >> 12U);
    } else {
      put(0xF0U | code >> 18U);
      put(0x80U | (code >> 12U & 0x3FU));
    }
    put(0x80U | (code >> 6U & 0x3FU));
  }
  put(0x80U | (code & 0x3FU));
}

}  // namespace apiserver::v0::text
