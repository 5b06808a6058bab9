#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// Finding the end of text that stands for itself, eight or sixteen bytes at a time.
namespace apiserver::inline v0::codec {

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

// Sixteen bytes that the compiler compares at once where the machine can.
using Block [[gnu::vector_size(16)]] = signed char;

inline Block BlockAt(const char* at) {
  Block block;
  std::memcpy(&block, at, sizeof(block));
  return block;
}
// Whether Go's encoder escapes one of the bytes, or has to look at it: below a space, as signed
// numbers, are control characters and all that is not ASCII.
inline bool AnyEscaped(Block block) {
  const auto hits =
      (block < 0x20) | (block == '\\') | ((block | 0x02) == '>') | ((block | 0x04) == '&');
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(hits);
  return (halves[0] | halves[1]) != 0;
}
}  // namespace scan

// How many bytes of `text` come before the first for which `word_hits` (on eight, little endian)
// or `byte_hits` (on one) is true.
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
    // The rest once more with what is in front of it, which has no hits.
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

// Up to the first quote, backslash or control character.
inline std::size_t PlainPrefix(std::string_view text) {
  return PrefixWithout(
      text,
      [](std::uint64_t word) {
        return scan::BelowSpace(word) | scan::Equals(word, '"') | scan::Equals(word, '\\');
      },
      [](unsigned char c) { return c < 0x20 || c == '"' || c == '\\'; });
}

// UnescapedPrefix of what is short, or has a hit near its front.
inline std::size_t UnescapedPrefixByWords(std::string_view text) {
  return PrefixWithout(
      text,
      [](std::uint64_t word) {
        // '<' and '>' differ in one bit, '"' and '&' too. What is not ASCII is a hit anyway, so
        // that the differences need not be masked one by one.
        const std::uint64_t control = word - scan::kOnes * 0x20;
        const std::uint64_t backslash = (word ^ scan::kOnes * '\\') - scan::kOnes;
        const std::uint64_t angle = ((word | scan::kOnes * 0x02) ^ scan::kOnes * '>') - scan::kOnes;
        const std::uint64_t quote = ((word | scan::kOnes * 0x04) ^ scan::kOnes * '&') - scan::kOnes;
        return (word | control | backslash | angle | quote) & scan::kHighs;
      },
      [](unsigned char c) {
        return c < 0x20 || c >= 0x80 || c == '\\' || (c | 0x02) == '>' || (c | 0x04) == '&';
      });
}

// Up to the first byte that Go's encoder escapes or has to look at: PlainPrefix, <, >, & and
// everything that is not ASCII.
inline std::size_t UnescapedPrefix(std::string_view text) {
  constexpr std::size_t kBlock = sizeof(scan::Block);
  std::size_t plain = 0;
  while (text.size() - plain >= kBlock && !scan::AnyEscaped(scan::BlockAt(text.data() + plain))) {
    plain += kBlock;
  }
  // The rest once more with what is in front of it, which has no hits.
  const bool rest = plain > 0 && text.size() - plain < kBlock;
  if (rest && !scan::AnyEscaped(scan::BlockAt(text.data() + text.size() - kBlock))) {
    return text.size();
  }
  return plain + UnescapedPrefixByWords(text.substr(plain));
}

inline std::size_t AsciiPrefix(std::string_view text) {
  return PrefixWithout(
      text, [](std::uint64_t word) { return word & scan::kHighs; },
      [](unsigned char c) { return c >= 0x80; });
}

}  // namespace apiserver::inline v0::codec
