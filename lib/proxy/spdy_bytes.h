#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace apiserver::inline v0::proxy {

// Appends `value` as four bytes, the highest first.
inline void AppendUint32(std::uint32_t value, std::string& out) {
  out.append({static_cast<char>(value >> 24U), static_cast<char>(value >> 16U),
              static_cast<char>(value >> 8U), static_cast<char>(value)});
}

// Reads the first four bytes of `bytes`, which has them.
inline std::uint32_t ReadUint32(std::string_view bytes) {
  std::uint32_t value = 0;
  for (const char byte : bytes.substr(0, 4)) {
    value = value << 8U | static_cast<unsigned char>(byte);
  }
  return value;
}

}  // namespace apiserver::inline v0::proxy
