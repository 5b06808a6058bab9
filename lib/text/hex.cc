#include "text/hex.h"

namespace apiserver::v0::text {

// Both chars and unsigned bytes share one writer: hashes are bytes, texts and ELF notes are chars.
void AppendHex(std::string_view bytes, std::string& out) {
  AppendHex({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}, out);
}

void AppendHex(std::span<const unsigned char> bytes, std::string& out) {
  for (const unsigned char byte : bytes) {
    out += HexDigit(byte >> 4U);
    out += HexDigit(byte);
  }
}

void AppendUpperHex(std::span<const unsigned char> bytes, std::string& out) {
  for (const unsigned char byte : bytes) {
    out += UpperHexDigit(byte >> 4U);
    out += UpperHexDigit(byte);
  }
}

}  // namespace apiserver::v0::text
