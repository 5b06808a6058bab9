#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
// A body that differs from the stored bytes only in its revision shares the stored bytes. One that
// has long parts of them, such as that of another version, shares those parts.
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
  // Parts of `bytes` and of `own`, one after the other.
  struct Composition {
    // A range of the bytes.
    struct Part {
      bool shared = false;      // True: a part of `bytes`, else of `own`.
      std::uint32_t begin = 0;  // Offset within the one or the other.
      std::uint32_t size = 0;
    };
    std::shared_ptr<const std::string> bytes;
    std::string own;
    std::vector<Part> parts;
  };
  // The pieces of a body in their order; some may be empty. Valid as long as the encoding.
  class Pieces {
   public:
    const std::string_view* begin() const { return many_.empty() ? few_.data() : many_.data(); }
    const std::string_view* end() const { return begin() + size(); }
    std::size_t size() const { return many_.empty() ? few_.size() : many_.size(); }
    std::string_view back() const { return *(end() - 1); }

   private:
    friend class Encoding;
    std::array<std::string_view, 3> few_;
    std::span<const std::string_view> many_;  // Empty: they are in `few_`.
  };

  explicit Encoding(EncodedBody body);
  // Make an encoding that shares bytes. `marks` are offsets into the result.
  Encoding(Splice splice, const BodyMarks& marks);
  Encoding(Composition composition, const BodyMarks& marks);
  Encoding(const Encoding&) = delete;
  Encoding& operator=(const Encoding&) = delete;
  ~Encoding();

  const BodyMarks& marks() const { return marks_; }
  std::size_t size() const { return size_ + inserted_size_; }
  // Returns the body as consecutive pieces.
  Pieces pieces() const;
  void AppendTo(std::string& out) const;
  // Appends the bytes [begin, end) only.
  void AppendTo(std::string& out, std::uint32_t begin, std::uint32_t end) const;
  std::string ToString() const;
  // The number of bytes that this encoding owns; zero if it shares all of the stored bytes.
  std::size_t own_bytes() const;

 private:
  // The part of a composed encoding that it owns.
  struct Composed {
    std::string own;
    std::vector<std::string_view> pieces;
  };

  std::shared_ptr<const std::string> bytes_;
  std::uint32_t begin_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t at_ = 0;
  BodyMarks marks_;
  std::array<char, kInsertedMax> inserted_;  // The first inserted_size_ are set.
  std::uint8_t inserted_size_ = 0;
  bool shared_ = false;
  std::unique_ptr<const Composed> composed_;  // Null: the encoding is not composed.
};
using EncodingPtr = std::shared_ptr<const Encoding>;

}  // namespace apiserver::inline v0::runtime
