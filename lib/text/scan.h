#pragma once  // Library-internal: other rooms include this header.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// Finds the end of plain text, eight or sixteen bytes at a time.
namespace apiserver::inline v0::text {

namespace scan {
inline constexpr std::uint64_t kOnes = 0x0101010101010101ULL;
inline constexpr std::uint64_t kHighs = kOnes * 0x80;

// The high bit of the lowest byte that is zero (and perhaps of bytes above it).
inline std::uint64_t ZeroByte(std::uint64_t word) { return (word - kOnes) & ~word & kHighs; }
inline std::uint64_t Equals(std::uint64_t word, unsigned char c) {
  return ZeroByte(word ^ (kOnes * c));
}
inline std::uint64_t BelowSpace(std::uint64_t word) {
  return (word - kOnes * 0x20) & ~word & kHighs;
}

// Sixteen bytes that the compiler compares at once if the machine can.
using Block [[gnu::vector_size(16)]] = signed char;

// The first bytes of `text`, and zeros if it has fewer.
inline Block BlockOf(std::string_view text) {
  Block block{};
  if (text.size() >= sizeof(block)) {
    std::memcpy(&block, text.data(), sizeof(block));
  } else {
    std::memcpy(&block, text.data(), text.size());
  }
  return block;
}
// Returns the number of bytes before the first that Go's encoder escapes or has to inspect. As
// signed numbers, control characters and all bytes beyond ASCII are below a space; '<' and '>'
// differ in one bit, '"' and '&' too.
inline std::size_t UnescapedIn(Block block) {
  const auto hits =
      (block < 0x20) | (block == '\\') | ((block | 0x02) == '>') | ((block | 0x04) == '&');
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(hits);
  const auto before = [](std::uint64_t half) {
    const bool little = std::endian::native == std::endian::little;
    return static_cast<std::size_t>(little ? std::countr_zero(half) : std::countl_zero(half)) / 8;
  };
  return halves[0] != 0 ? before(halves[0]) : 8 + before(halves[1]);
}
}  // namespace scan

// Returns the number of bytes of `text` before the first for which `word_hits` (on eight, little
// endian) or `byte_hits` (on one) is true.
template <class WordHits, class ByteHits>
std::size_t PrefixWithout(std::string_view text, WordHits word_hits, ByteHits byte_hits) {
  std::size_t i = 0;
  if constexpr (std::endian::native == std::endian::little) {
    for (; i + 8 <= text.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + i, 8);
      const std::uint64_t hits = word_hits(word);
      if (hits != 0) return i + static_cast<std::size_t>(std::countr_zero(hits)) / 8;
    }
    if (i == text.size()) return i;
    // Reads the last eight bytes, some of them for the second time: those have no hits.
    if (text.size() >= 8) {
      const std::size_t last = text.size() - 8;
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + last, 8);
      const std::uint64_t hits = word_hits(word);
      return hits == 0 ? text.size() : last + static_cast<std::size_t>(std::countr_zero(hits)) / 8;
    }
  }
  while (i < text.size() && !byte_hits(static_cast<unsigned char>(text[i]))) ++i;
  return i;
}

// Returns the length of the text before the first quote, backslash or control character.
inline std::size_t PlainPrefix(std::string_view text) {
  return PrefixWithout(
      text,
      [](std::uint64_t word) {
        return scan::BelowSpace(word) | scan::Equals(word, '"') | scan::Equals(word, '\\');
      },
      [](unsigned char c) { return c < 0x20 || c == '"' || c == '\\'; });
}

// Returns the length of the text before the first byte that Go's encoder escapes or has to inspect:
// those of PlainPrefix, <, >, & and everything beyond ASCII.
inline std::size_t UnescapedPrefix(std::string_view text) {
  std::size_t plain = 0;
  while (plain < text.size()) {
    const std::size_t more = scan::UnescapedIn(scan::BlockOf(text.substr(plain)));
    plain += more;
    if (more < sizeof(scan::Block)) break;
  }
  return plain;
}

// Copies UnescapedPrefix(text) to `out`, which has room for the text and a block; returns its size.
inline std::size_t CopyUnescaped(std::string_view text, char* out) {
  constexpr std::size_t kBlock = sizeof(scan::Block);
  const auto copy = [text, out](std::size_t at) {
    const scan::Block block = scan::BlockOf(text.substr(at));
    std::memcpy(out + at, &block, kBlock);
    return scan::UnescapedIn(block);
  };
  if (text.size() < kBlock) return copy(0);
  std::size_t at = 0;
  for (; at + kBlock <= text.size(); at += kBlock) {
    if (const std::size_t plain = copy(at); plain < kBlock) return at + plain;
  }
  // Reads the last block, some of it for the second time: that part is plain.
  at = text.size() - kBlock;
  return at + copy(at);
}

inline std::size_t AsciiPrefix(std::string_view text) {
  return PrefixWithout(
      text, [](std::uint64_t word) { return word & scan::kHighs; },
      [](unsigned char c) { return c >= 0x80; });
}

}  // namespace apiserver::inline v0::text
