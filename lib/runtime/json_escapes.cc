#include "runtime/json_escapes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace apiserver::v0::runtime {

namespace {

constexpr std::array<std::pair<char, char>, 5> kShort = {
    {{'\b', 'b'}, {'\f', 'f'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}}};

std::uint32_t HexNumber(std::string_view digits) {
  std::uint32_t number = 0;
  for (const char c : digits) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    number = number * 16 + static_cast<std::uint32_t>(digit & 0xF);
  }
  return number;
}

void AppendUtf8(std::uint32_t point, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0U | point >> 6U);
  } else {
    if (point < 0x10000) {
      put(0xE0U | point >> 12U);
    } else {
      put(0xF0U | point >> 18U);
      put(0x80U | (point >> 12U & 0x3FU));
    }
    put(0x80U | (point >> 6U & 0x3FU));
  }
  put(0x80U | (point & 0x3FU));
}

// Appends what the escape at `at`, a backslash and what follows, says; returns its length.
std::size_t AppendEscape(std::string_view json, std::size_t at, std::string& out) {
  const char c = at + 1 < json.size() ? json[at + 1] : '\\';
  for (const auto& [plain, letter] : kShort) {
    if (c == letter) {
      out += plain;
      return 2;
    }
  }
  if (c != 'u' || at + 6 > json.size()) {
    out += c;
    return 2;
  }
  const std::uint32_t high = HexNumber(json.substr(at + 2, 4));
  const bool pair = (high & 0xFC00U) == 0xD800U && at + 12 <= json.size();
  if (!pair) {
    AppendUtf8((high & 0xF800U) == 0xD800U ? 0xFFFD : high, out);
    return 6;
  }
  const std::uint32_t low = HexNumber(json.substr(at + 8, 4));
  AppendUtf8(0x10000 + ((high & 0x3FFU) << 10U) + (low & 0x3FFU), out);
  return 12;
}

}  // namespace

std::string EscapeJson(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    char letter = c == '"' || c == '\\' ? c : '\0';
    for (const auto& [plain, name] : kShort) {
      if (c == plain) letter = name;
    }
    if (letter != '\0') {
      out += {'\\', letter};
    } else if (byte < 0x20 || c == '<' || c == '>' || c == '&') {
      out += {'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 0xFU]};
    } else {
      out += c;
    }
  }
  return out;
}

std::string UnescapeJson(std::string_view json) {
  std::string out;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] == '\\') {
      at += AppendEscape(json, at, out);
    } else {
      out += json[at++];
    }
  }
  return out;
}

}  // namespace apiserver::v0::runtime
