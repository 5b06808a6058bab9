#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace apiserver::inline v0::runtime {

// The format of an encoding.
enum class Format : std::uint8_t {
  kJson,
  kProtobuf,
  kCells,  // The cells of a table row, in a format private to the table convertor; not a body.
};

// The byte offsets of parts of an encoded body.
struct BodyMarks {
  // The text of metadata.resourceVersion; in JSON without the quotes. Equal: there is none, and in
  // JSON this is the offset to insert the member at. Both zero: it cannot be inserted.
  std::uint32_t rv_begin = 0;
  std::uint32_t rv_end = 0;
  // The value of metadata, braces included.
  std::uint32_t metadata_begin = 0;
  std::uint32_t metadata_end = 0;

  friend bool operator==(const BodyMarks&, const BodyMarks&) = default;
};

// A body under construction.
struct EncodedBody : BodyMarks {
  std::string text;
};

// An object's body in one version and format, ready to be copied into responses. JSON: the text
// after Kind::JsonPrefix, including the closing brace. Protobuf: the message without the envelope.
// Immutable.
//
// A body that differs from the stored bytes only in its revision shares the stored bytes.
class Encoding {
 public:
  // A part of `bytes` with `inserted` spliced into it.
  struct Splice {
    std::shared_ptr<const std::string> bytes;
    std::uint32_t begin = 0;    // Offset of the part within `bytes`.
    std::uint32_t size = 0;     // Size of the part.
    std::uint32_t at = 0;       // Offset within the part at which `inserted` goes.
    std::string_view inserted;  // At most kInsertedMax bytes; copied.
  };
  static constexpr std::size_t kInsertedMax = 48;

  explicit Encoding(EncodedBody body);
  // Makes an encoding that shares bytes. `marks` are offsets into the result, `inserted` included.
  Encoding(Splice splice, const BodyMarks& marks);

  const BodyMarks& marks() const { return marks_; }
  std::size_t size() const { return size_ + inserted_size_; }
  // Returns the body as consecutive pieces, valid as long as the encoding. Pieces may be empty.
  std::array<std::string_view, 3> pieces() const;
  void AppendTo(std::string& out) const;
  // Appends the bytes [begin, end) only.
  void AppendTo(std::string& out, std::uint32_t begin, std::uint32_t end) const;
  std::string ToString() const;
  // The number of bytes that this encoding owns; zero if it shares stored bytes.
  std::size_t own_bytes() const { return shared_ ? 0 : size_; }

 private:
  std::shared_ptr<const std::string> bytes_;
  std::uint32_t begin_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t at_ = 0;
  BodyMarks marks_;
  std::array<char, kInsertedMax> inserted_;  // The first inserted_size_ are set.
  std::uint8_t inserted_size_ = 0;
  bool shared_ = false;
};
using EncodingPtr = std::shared_ptr<const Encoding>;

}  // namespace apiserver::inline v0::runtime
