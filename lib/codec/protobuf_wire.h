#pragma once  // Library-internal: other rooms include this header.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "apiserver/base/status.h"

// Protobuf's wire format.
namespace apiserver::inline v0::codec::wire {

enum class Type : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kLength = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5,
};

// How deep messages may nest.
inline constexpr int kDepthMax = 100;

void PutVarint(std::uint64_t value, std::string& out);
void PutTag(int number, Type type, std::string& out);
void PutFixed64(std::uint64_t value, std::string& out);
// Appends tag and varint.
void PutInt(int number, std::int64_t value, std::string& out);
// Appends tag, length and bytes.
void PutBytes(int number, std::string_view bytes, std::string& out);
// Returns the size of a field of `bytes` bytes, tag and length included.
std::size_t FieldBytes(int number, std::size_t bytes);

// A field whose bytes are appended between construction and Close().
class Nested {
 public:
  Nested(int number, std::string& out) : out_(out) {
    PutTag(number, Type::kLength, out);
    begin_ = out.size();
  }
  void Close();

 private:
  std::string& out_;
  std::size_t begin_;
};

// One field of a message.
struct Token {
  int number = 0;
  Type type = Type::kVarint;
  std::uint64_t scalar = 0;  // kVarint, kFixed64, kFixed32.
  std::string_view bytes;    // kLength.
};

// Checks the type of a token. kBadRequest, in gogo's words: it is another one.
Status Expect(const Token& token, Type type, std::string_view field);

// Reads the fields of a message in their order; groups are skipped.
class Reader {
 public:
  // `message` is its name in errors.
  explicit Reader(std::string_view bytes, std::string_view message = "")
      : rest_(bytes), message_(message) {}

  bool done() const { return rest_.empty(); }
  // kBadRequest: truncated or malformed, in gogo's words.
  Result<Token> Next();
  // Reads an element of a packed list: a varint, or eight bytes.
  Result<std::uint64_t> Varint();
  Result<std::uint64_t> Fixed(std::size_t bytes);

 private:
  Result<std::string_view> Bytes();
  Status SkipGroup();
  Result<Token> One();
  Status Malformed(std::string_view why) const;

  std::string_view rest_;
  std::string_view message_;
};

// Calls `take` (Status(const Token&)) with each field of a message, to the first error.
template <class Take>
Status ForEachField(std::string_view bytes, std::string_view message, Take take) {
  Status status;
  for (Reader reader(bytes, message); status.ok() && !reader.done();) {
    const Result<Token> token = reader.Next();
    status = token.ok() ? take(*token) : token.status();
  }
  return status;
}

}  // namespace apiserver::inline v0::codec::wire
