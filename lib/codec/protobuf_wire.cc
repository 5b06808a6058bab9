#include "codec/protobuf_wire.h"

#include <bit>

#include "base/status_macros.h"

namespace apiserver::v0::codec::wire {
namespace {

Status UnexpectedEnd() { return Status(Reason::kBadRequest, "unexpected EOF"); }

}  // namespace

void PutVarint(std::uint64_t value, std::string& out) {
  while (value >= 0x80) {
    out += static_cast<char>((value & 0x7FU) | 0x80U);
    value >>= 7U;
  }
  out += static_cast<char>(value);
}

void PutTag(int number, Type type, std::string& out) {
  PutVarint(static_cast<std::uint64_t>(number) << 3U | static_cast<std::uint64_t>(type), out);
}

void PutFixed64(std::uint64_t value, std::string& out) {
  for (unsigned shift = 0; shift < 64; shift += 8) {
    out += static_cast<char>(value >> shift & 0xFFU);
  }
}

void PutInt(int number, std::int64_t value, std::string& out) {
  PutTag(number, Type::kVarint, out);
  PutVarint(static_cast<std::uint64_t>(value), out);
}

void PutBytes(int number, std::string_view bytes, std::string& out) {
  PutTag(number, Type::kLength, out);
  PutVarint(bytes.size(), out);
  out += bytes;
}

std::size_t FieldBytes(int number, std::size_t bytes) {
  const auto varint = [](std::uint64_t value) {
    return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
  };
  return varint(static_cast<std::uint64_t>(number) << 3U) + varint(bytes) + bytes;
}

Status Expect(const Token& token, Type type, std::string_view field) {
  if (token.type == type) return {};
  std::string message = "proto: wrong wireType = " + std::to_string(static_cast<int>(token.type));
  return Status(Reason::kBadRequest, message.append(" for field ").append(field));
}

void Nested::Close() {
  // The length is known only now; it goes before the field's bytes.
  std::string length;
  PutVarint(out_.size() - begin_, length);
  out_.insert(begin_, length);
}

Result<std::uint64_t> Reader::Varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (rest_.empty()) return UnexpectedEnd();
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    // As gogo: surplus bits of the tenth byte are shifted out.
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80) return value;
  }
  return Status(Reason::kBadRequest, "proto: integer overflow");
}

Result<std::uint64_t> Reader::Fixed(std::size_t bytes) {
  if (rest_.size() < bytes) return UnexpectedEnd();
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8U | static_cast<unsigned char>(rest_[i]);
  rest_.remove_prefix(bytes);
  return value;
}

Result<std::string_view> Reader::Bytes() {
  ASSIGN_OR_RETURN(const std::uint64_t length, Varint());
  // gogo reads a length as int.
  if (static_cast<std::int64_t>(length) < 0) {
    return Status(Reason::kBadRequest, "proto: negative length found during unmarshaling");
  }
  if (length > rest_.size()) return UnexpectedEnd();
  const std::string_view bytes = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return bytes;
}

Status Reader::Malformed(std::string_view why) const {
  std::string message = "proto: ";
  if (!message_.empty()) message.append(message_).append(": ");
  return Status(Reason::kBadRequest, message.append(why));
}

Result<Token> Reader::One() {
  ASSIGN_OR_RETURN(const std::uint64_t tag, Varint());
  Token token;
  token.type = static_cast<Type>(tag & 7U);
  token.number = static_cast<int>(static_cast<std::uint32_t>(tag >> 3U));
  if (token.number <= 0 && token.type != Type::kEndGroup) {
    return Malformed("illegal tag " + std::to_string(token.number) + " (wire type " +
                     std::to_string(tag) + ")");
  }
  switch (token.type) {
    case Type::kVarint: {
      ASSIGN_OR_RETURN(token.scalar, Varint());
      return token;
    }
    case Type::kFixed64:
    case Type::kFixed32: {
      ASSIGN_OR_RETURN(token.scalar, Fixed(token.type == Type::kFixed64 ? 8 : 4));
      return token;
    }
    case Type::kLength: {
      ASSIGN_OR_RETURN(token.bytes, Bytes());
      return token;
    }
    case Type::kStartGroup:
    case Type::kEndGroup:
      return token;
  }
  return Status(Reason::kBadRequest, "proto: illegal wireType " + std::to_string(tag & 7U));
}

Status Reader::SkipGroup() {
  for (std::size_t depth = 1; depth > 0;) {
    ASSIGN_OR_RETURN(const Token token, One());
    if (token.type == Type::kStartGroup) ++depth;
    if (token.type == Type::kEndGroup) --depth;
  }
  return {};
}

Result<Token> Reader::Next() {
  ASSIGN_OR_RETURN(Token token, One());
  if (token.type == Type::kEndGroup) {
    return Malformed("wiretype end group for non-group");
  }
  // Kubernetes has no groups, so a group is an unknown field with any number.
  if (token.type == Type::kStartGroup) {
    RETURN_IF_ERROR(SkipGroup());
    token.number = 0;
  }
  return token;
}

}  // namespace apiserver::v0::codec::wire
