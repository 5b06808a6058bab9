#pragma once  // Library-internal: other rooms include this header.

#include <span>
#include <string>
#include <string_view>

// Hexadecimal digits, two for each byte.
namespace apiserver::inline v0::text {

// The digit for the lowest four bits of `value`.
constexpr char HexDigit(unsigned value) { return "0123456789abcdef"[value & 15U]; }
inline char UpperHexDigit(unsigned value) { return "0123456789ABCDEF"[value & 15U]; }

// The value of a digit in either case; -1 if `c` is none.
inline int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}
inline bool IsHexDigit(char c) { return HexValue(c) >= 0; }

void AppendHex(std::string_view bytes, std::string& out);
void AppendHex(std::span<const unsigned char> bytes, std::string& out);
void AppendUpperHex(std::span<const unsigned char> bytes, std::string& out);

}  // namespace apiserver::inline v0::text
