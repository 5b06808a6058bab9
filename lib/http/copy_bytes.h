#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

namespace apiserver::inline v0::http {

// The most that is copied at a time. From some 2 KiB on, glibc copies with `rep movsb`, and on an
// AMD EPYC (Zen 4) that runs at a thirtieth of its speed if the destination lies 1 to 15 bytes
// after the source modulo 4096: a buffer that begins a page is copied to behind a header in one
// that does, too. Less is copied with vector instructions, which are as fast at every distance.
inline constexpr std::size_t kCopyBytes = 1024;

// Copies `from` to `to`.
inline void CopyBytes(std::string_view from, char* to) {
  while (!from.empty()) {
    const std::size_t count = std::min(from.size(), kCopyBytes);
    std::memcpy(to, from.data(), count);
    from.remove_prefix(count);
    to += count;
  }
}

// Appends `from` to `to`.
inline void AppendBytes(std::string_view from, std::string& to) {
  for (; from.size() > kCopyBytes; from.remove_prefix(kCopyBytes)) {
    to.append(from.substr(0, kCopyBytes));
  }
  to.append(from);
}

}  // namespace apiserver::inline v0::http
