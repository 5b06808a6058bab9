#pragma once

#include <cstdint>

// The head of a CBOR data item, RFC 8949 section 3.
namespace apiserver::inline v0::codec {

enum class CborMajor : std::uint8_t {
  kUnsigned = 0,
  kNegative = 1,
  kBytes = 2,
  kText = 3,
  kArray = 4,
  kMap = 5,
  kTag = 6,
  kSimple = 7,
};

// The low five bits of an item's first byte.
inline constexpr unsigned kCborOneByte = 24;
inline constexpr unsigned kCborTwoBytes = 25;
inline constexpr unsigned kCborFourBytes = 26;
inline constexpr unsigned kCborEightBytes = 27;
inline constexpr unsigned kCborIndefinite = 31;

inline constexpr unsigned kCborFalse = 20;
inline constexpr unsigned kCborTrue = 21;
inline constexpr unsigned kCborNull = 22;
inline constexpr unsigned char kCborBreak = 0xFF;

inline constexpr std::uint64_t kCborTagTimeText = 0;
inline constexpr std::uint64_t kCborTagTimeNumber = 1;
inline constexpr std::uint64_t kCborTagBignum = 2;
inline constexpr std::uint64_t kCborTagNegativeBignum = 3;
// "Expected later encoding".
inline constexpr std::uint64_t kCborTagBase64Url = 21;
inline constexpr std::uint64_t kCborTagBase64 = 22;
inline constexpr std::uint64_t kCborTagBase16 = 23;

}  // namespace apiserver::inline v0::codec
