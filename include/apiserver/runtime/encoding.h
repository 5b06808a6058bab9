#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace apiserver::inline v0::runtime {

enum class Format : std::uint8_t {
  kJson,
  kProtobuf,
  kCells,  // No body: what a row of a table shows of the object. Its maker's own form.
};

// Where the parts of an encoded body stand.
struct BodyMarks {
  // The text of metadata.resourceVersion (JSON: between the quotes); equal: it has none, and in
  // JSON the member would stand there (zero: nowhere).
  std::uint32_t rv_begin = 0;
  std::uint32_t rv_end = 0;
  // The value of metadata, braces included.
  std::uint32_t metadata_begin = 0;
  std::uint32_t metadata_end = 0;

  friend bool operator==(const BodyMarks&, const BodyMarks&) = default;
};

// A body that is being made.
struct EncodedBody : BodyMarks {
  std::string text;
};

// An object's body in one version and format, ready to be spliced into answers. JSON: what follows
// Kind::JsonPrefix, closing brace included. Protobuf: the message without the envelope. Immutable.
//
// The bytes are kept once: a body that differs from what is stored only in its revision shares the
// stored bytes.
class Encoding {
 public:
  // Part of `bytes`, into which `inserted` is spliced.
  struct Splice {
    std::shared_ptr<const std::string> bytes;
    std::uint32_t begin = 0;    // Of the part within `bytes`.
    std::uint32_t size = 0;     // Of the part.
    std::uint32_t at = 0;       // Where in the part.
    std::string_view inserted;  // At most kInsertedMax bytes; copied.
  };
  static constexpr std::size_t kInsertedMax = 48;

  explicit Encoding(EncodedBody body);
  // `marks` count the bytes of the whole, `inserted` among them.
  Encoding(Splice splice, const BodyMarks& marks);

  const BodyMarks& marks() const { return marks_; }
  std::size_t size() const { return size_ + inserted_size_; }
  // The body in the order of its bytes; pieces may be empty, and live as long as the encoding.
  std::array<std::string_view, 3> pieces() const;
  void AppendTo(std::string& out) const;
  // The bytes [begin, end) only.
  void AppendTo(std::string& out, std::uint32_t begin, std::uint32_t end) const;
  std::string ToString() const;
  // Bytes that only this keeps.
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
