#include "codec/base64.h"

#include <array>
#include <cstdint>

namespace apiserver::v0::codec {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// What is no digit has 64.
constexpr auto kDigits = [] {
  std::array<std::uint8_t, 256> table{};
  for (auto& entry : table) entry = kAlphabet.size();
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    table[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

}  // namespace

void AppendBase64(std::string_view bytes, std::string& out) {
  const auto byte = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i])) : 0U;
  };
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const unsigned group = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    out += kAlphabet[group >> 18U];
    out += kAlphabet[group >> 12U & 63U];
    out += i + 1 < bytes.size() ? kAlphabet[group >> 6U & 63U] : '=';
    out += i + 2 < bytes.size() ? kAlphabet[group & 63U] : '=';
  }
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  std::string out;
  unsigned group = 0;
  unsigned digits = 0;
  unsigned padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (c == '=') {
      if (++padding > 2 || digits < 2) return std::nullopt;
      continue;
    }
    const unsigned digit = kDigits[static_cast<unsigned char>(c)];
    if (digit >= kAlphabet.size() || padding > 0) return std::nullopt;
    group = group << 6U | digit;
    if (++digits < 4) continue;
    out += {static_cast<char>(group >> 16U & 255U), static_cast<char>(group >> 8U & 255U),
            static_cast<char>(group & 255U)};
    group = 0;
    digits = 0;
  }
  if (digits == 0 && padding == 0) return out;
  if (digits + padding != 4) return std::nullopt;
  group <<= 6U * padding;
  out += static_cast<char>(group >> 16U & 255U);
  if (padding == 1) out += static_cast<char>(group >> 8U & 255U);
  return out;
}

}  // namespace apiserver::v0::codec
