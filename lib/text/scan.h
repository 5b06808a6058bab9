#pragma once  // Library-internal: other rooms include this header.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// Finds the end of plain text, sixteen bytes at a time.
namespace apiserver::inline v0::text {

namespace scan {
// Sixteen bytes that the compiler compares at once if the machine can.
using Block [[gnu::vector_size(16)]] = signed char;

// The bytes of an integer at `at`.
template <class Integer>
std::uint64_t Load(const char* at) {
  Integer bytes = 0;
  std::memcpy(&bytes, at, sizeof(bytes));
  return bytes;
}
// The block of fewer bytes than fill one, put together in registers from loads that overlap: a
// block that is stored in parts and loaded as a whole makes the machine wait for the stores.
inline Block ShortBlockOf(std::string_view text) {
  static_assert(sizeof(Block) == 16);
  const std::size_t size = text.size();
  const char* const at = text.data();
  std::array<std::uint64_t, 2> halves{};
  if (size >= 8) {
    halves[0] = Load<std::uint64_t>(at);
    // Eight bytes are shifted by 63 and by one: by 64 would be undefined.
    halves[1] = Load<std::uint64_t>(at + size - 8) >> 1U >> (8 * (16 - size) - 1);
  } else if (size >= 4) {
    halves[0] = Load<std::uint32_t>(at) | Load<std::uint32_t>(at + size - 4) << (8 * (size - 4));
  } else if (size > 0) {
    halves[0] = Load<std::uint8_t>(at) | Load<std::uint8_t>(at + size / 2) << (8 * (size / 2)) |
                Load<std::uint8_t>(at + size - 1) << (8 * (size - 1));
  }
  return std::bit_cast<Block>(halves);
}
// The first bytes of `text`, and zeros if it has fewer.
inline Block BlockOf(std::string_view text) {
  Block block{};
  if (text.size() >= sizeof(block)) {
    std::memcpy(&block, text.data(), sizeof(block));
  } else if (std::endian::native == std::endian::little) {
    block = ShortBlockOf(text);
  } else if (!text.empty()) {  // One without bytes may be null.
    std::memcpy(&block, text.data(), text.size());
  }
  return block;
}
// Returns the number of bytes before the first for which `hits`, a comparison, is true.
inline std::size_t BytesBefore(Block hits) {
#ifdef __SSE2__
  using Chars [[gnu::vector_size(16)]] = char;
  const int mask = __builtin_ia32_pmovmskb128(std::bit_cast<Chars>(hits));
  return static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(mask) | 0x10000U));
#else
  const auto halves = std::bit_cast<std::array<std::uint64_t, 2>>(hits);
  const auto before = [](std::uint64_t half) {
    const bool little = std::endian::native == std::endian::little;
    return static_cast<std::size_t>(little ? std::countr_zero(half) : std::countl_zero(half)) / 8;
  };
  return halves[0] != 0 ? before(halves[0]) : 8 + before(halves[1]);
#endif
}
inline bool Any(Block hits) { return BytesBefore(hits) < sizeof(hits); }
// Marks the bytes that Go's encoder escapes or has to inspect. As signed numbers, control
// characters and all bytes beyond ASCII are below a space; '<' and '>' differ in one bit, '"' and
// '&' too.
inline Block ToEscape(Block block) {
  return (block < 0x20) | (block == '\\') | ((block | 0x02) == '>') | ((block | 0x04) == '&');
}
// Returns the number of bytes before the first of those.
inline std::size_t UnescapedIn(Block block) { return BytesBefore(ToEscape(block)); }
constexpr std::size_t kStride = 4 * sizeof(Block);
// Returns how many of `size` bytes have no hit, in steps of four blocks, which are judged together:
// a branch for each of them takes longer than the comparisons. `hits_at` gives the hits of the
// block at an offset.
template <class HitsAt>
std::size_t StridesWithout(std::size_t size, HitsAt hits_at) {
  constexpr std::size_t kBlock = sizeof(Block);
  std::size_t at = 0;
  while (size - at >= kStride) {
    Block hits = hits_at(at);
    for (std::size_t block = kBlock; block < kStride; block += kBlock) hits |= hits_at(at + block);
    if (Any(hits)) break;
    at += kStride;
  }
  return at;
}
}  // namespace scan

// Returns the number of bytes of `text` before the first for which `hits`, of a block, is true. It
// is called for the zeros behind a text of fewer bytes than a block, too.
template <class Hits>
std::size_t PrefixWithout(std::string_view text, Hits hits) {
  constexpr std::size_t kBlock = sizeof(scan::Block);
  if (text.size() < kBlock) {
    return std::min(scan::BytesBefore(hits(scan::BlockOf(text))), text.size());
  }
  const auto hits_at = [text, hits](std::size_t at) {
    scan::Block block;
    std::memcpy(&block, text.data() + at, kBlock);
    return hits(block);
  };
  // Reads the last block, some of it for the second time: that part has no hits.
  const std::size_t last = text.size() - kBlock;
  for (std::size_t at = scan::StridesWithout(text.size(), hits_at); at < last; at += kBlock) {
    const std::size_t plain = scan::BytesBefore(hits_at(at));
    if (plain < kBlock) return at + plain;
  }
  return last + scan::BytesBefore(hits_at(last));
}

// Returns the length of the text before the first quote, backslash or control character.
inline std::size_t PlainPrefix(std::string_view text) {
  using Bytes [[gnu::vector_size(16)]] = unsigned char;
  return PrefixWithout(text, [](scan::Block block) {
    return (std::bit_cast<Bytes>(block) < 0x20) | (block == '"') | (block == '\\');
  });
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
  if (text.size() < kBlock) {
    const scan::Block block = scan::BlockOf(text);
    std::memcpy(out, &block, kBlock);
    return scan::UnescapedIn(block);
  }
  const auto copy = [text, out](std::size_t at) {
    scan::Block block;
    std::memcpy(&block, text.data() + at, kBlock);
    std::memcpy(out + at, &block, kBlock);
    return scan::ToEscape(block);
  };
  // Reads the last block, some of it for the second time: that part is plain.
  const std::size_t last = text.size() - kBlock;
  std::size_t at = 0;
  if (text.size() >= scan::kStride) at = scan::StridesWithout(text.size(), copy);
  for (; at < last; at += kBlock) {
    const std::size_t plain = scan::BytesBefore(copy(at));
    if (plain < kBlock) return at + plain;
  }
  return last + scan::BytesBefore(copy(last));
}

inline std::size_t AsciiPrefix(std::string_view text) {
  return PrefixWithout(text, [](scan::Block block) { return block < 0; });
}

}  // namespace apiserver::inline v0::text
