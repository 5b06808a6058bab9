#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "apiserver/codec/cbor.h"
#include "apiserver/codec/json.h"

#include "codec/cbor_head.h"

namespace apiserver::v0::codec {
namespace {

using runtime::Arena;
using runtime::Member;
using runtime::Value;

void AppendBigEndian(std::uint64_t number, unsigned size, std::string& out) {
  while (size-- > 0) out += static_cast<char>(number >> (8 * size) & 0xFFU);
}

void AppendHead(CborMajor major, std::uint64_t argument, std::string& out) {
  const auto first = static_cast<unsigned>(major) << 5U;
  if (argument < kCborOneByte) {
    out += static_cast<char>(first | argument);
    return;
  }
  const unsigned info = argument <= 0xFF         ? kCborOneByte
                        : argument <= 0xFFFF     ? kCborTwoBytes
                        : argument <= 0xFFFFFFFF ? kCborFourBytes
                                                 : kCborEightBytes;
  out += static_cast<char>(first | info);
  AppendBigEndian(argument, 1U << (info - kCborOneByte), out);
}

// Kubernetes writes all strings as byte strings: a Go string need not be UTF-8.
void AppendBytes(std::string_view bytes, std::string& out) {
  AppendHead(CborMajor::kBytes, bytes.size(), out);
  out += bytes;
}

void AppendInt(std::int64_t number, std::string& out) {
  if (number >= 0) {
    AppendHead(CborMajor::kUnsigned, static_cast<std::uint64_t>(number), out);
  } else {
    AppendHead(CborMajor::kNegative, static_cast<std::uint64_t>(-1 - number), out);
  }
}

// Returns the half-precision form of `number`. nullopt: it would lose precision.
std::optional<std::uint16_t> HalfOf(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  const std::uint32_t sign = bits >> 16U & 0x8000U;
  const auto exponent = static_cast<int>(bits >> 23U & 0xFFU) - 127;
  const std::uint32_t fraction = bits & 0x7FFFFFU;
  if (number == 0) return static_cast<std::uint16_t>(sign);
  if (exponent >= -14 && exponent <= 15) {
    if ((fraction & 0x1FFFU) != 0) return std::nullopt;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(exponent + 15) << 10U |
                                      fraction >> 13U);
  }
  if (exponent < -24 || exponent > 15) return std::nullopt;
  // Subnormal: the implicit one becomes a digit.
  const auto shift = static_cast<unsigned>(-exponent - 1);
  const std::uint32_t digits = fraction | 0x800000U;
  if ((digits & ((1U << shift) - 1)) != 0) return std::nullopt;
  return static_cast<std::uint16_t>(sign | digits >> shift);
}

void AppendDouble(double number, std::string& out) {
  constexpr auto kFirst = static_cast<unsigned>(CborMajor::kSimple) << 5U;
  const auto single = static_cast<float>(number);
  // The shortest form that keeps the value: RFC 8949, 4.2.1.
  if (static_cast<double>(single) != number) {
    out += static_cast<char>(kFirst | kCborEightBytes);
    return AppendBigEndian(std::bit_cast<std::uint64_t>(number), 8, out);
  }
  if (const auto half = HalfOf(single)) {
    out += static_cast<char>(kFirst | kCborTwoBytes);
    return AppendBigEndian(*half, 2, out);
  }
  out += static_cast<char>(kFirst | kCborFourBytes);
  AppendBigEndian(std::bit_cast<std::uint32_t>(single), 4, out);
}

void AppendSimple(unsigned value, std::string& out) { AppendHead(CborMajor::kSimple, value, out); }

void AppendScalar(const Value& value, std::string& out) {
  switch (value.type()) {
    case Value::Type::kBool:
      return AppendSimple(value.AsBool() ? kCborTrue : kCborFalse, out);
    case Value::Type::kInt:
      return AppendInt(value.AsInt(), out);
    case Value::Type::kDouble:
      return AppendDouble(value.AsDouble(), out);
    case Value::Type::kString:
      return AppendBytes(value.AsString(), out);
    case Value::Type::kBytes:
      // The tag tells readers without a schema to show these bytes as base64, as in JSON.
      AppendHead(CborMajor::kTag, kCborTagBase64, out);
      return AppendBytes(value.AsString(), out);
    default:
      return AppendSimple(kCborNull, out);
  }
}

// A map or list whose parts are being written.
struct Frame {
  std::vector<Member> members;  // The members of a map, sorted.
  std::span<const Value> items;
  std::size_t next = 0;
};

Frame Open(const Value& value, std::string& out) {
  AppendHead(value.is_map() ? CborMajor::kMap : CborMajor::kArray, value.size(), out);
  Frame frame{.members = {value.members().begin(), value.members().end()}, .items = value.items()};
  // Sorted by the encoded key, which begins with its length.
  std::sort(frame.members.begin(), frame.members.end(), [](const Member& a, const Member& b) {
    return a.key.size() != b.key.size() ? a.key.size() < b.key.size() : a.key < b.key;
  });
  return frame;
}

}  // namespace

void AppendCbor(Value value, std::string& out) {
  Arena arena;  // Holds what raw text is parsed into.
  std::vector<Frame> frames;
  for (;;) {
    if (value.type() == Value::Type::kRaw) {
      const Result<Value> parsed = ParseJson(value.AsString(), arena);
      value = parsed.ok() ? *parsed : Value();
    }
    if (value.is_map() || value.is_list()) {
      frames.push_back(Open(value, out));
    } else {
      AppendScalar(value, out);
    }
    while (!frames.empty() &&
           frames.back().next == frames.back().members.size() + frames.back().items.size()) {
      frames.pop_back();
    }
    if (frames.empty()) return;
    Frame& frame = frames.back();
    if (frame.items.empty()) {
      AppendBytes(frame.members[frame.next].key, out);
      value = frame.members[frame.next++].value;
    } else {
      value = frame.items[frame.next++];
    }
  }
}

std::string CborOfJson(std::string_view json) {
  Arena arena;
  std::string cbor;
  const Result<Value> parsed = ParseJson(json, arena);
  AppendCbor(parsed.ok() ? *parsed : Value(), cbor);
  return cbor;
}

}  // namespace apiserver::v0::codec
