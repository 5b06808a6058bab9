#include "apiserver/runtime/encoding.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace apiserver::v0::runtime {

Encoding::Encoding(EncodedBody body)
    : size_(static_cast<std::uint32_t>(body.text.size())),
      marks_(static_cast<const BodyMarks&>(body)) {
  // The body is kept as long as its object: spare capacity of the encoder's buffer would be, too.
  body.text.shrink_to_fit();
  bytes_ = std::make_shared<const std::string>(std::move(body.text));
}

Encoding::Encoding(Splice splice, const BodyMarks& marks)
    : bytes_(std::move(splice.bytes)),
      begin_(splice.begin),
      size_(splice.size),
      at_(splice.at),
      marks_(marks),
      inserted_size_(static_cast<std::uint8_t>(splice.inserted.size())),
      shared_(true) {
  assert(splice.inserted.size() <= kInsertedMax);
  std::copy(splice.inserted.begin(), splice.inserted.end(), inserted_.begin());
}

// A spliced body is a range of shared bytes with a few bytes of its own inserted at `at_`. Any
// other body inserts nothing.
std::array<std::string_view, 3> Encoding::pieces() const {
  const std::string_view all = std::string_view(*bytes_).substr(begin_, size_);
  return {all.substr(0, at_), {inserted_.data(), inserted_size_}, all.substr(at_)};
}

void Encoding::AppendTo(std::string& out) const {
  for (const std::string_view piece : pieces()) out += piece;
}

void Encoding::AppendTo(std::string& out, std::uint32_t begin, std::uint32_t end) const {
  std::size_t passed = 0;
  for (const std::string_view piece : pieces()) {
    const std::size_t from = std::clamp<std::size_t>(begin, passed, passed + piece.size());
    const std::size_t to = std::clamp<std::size_t>(end, passed, passed + piece.size());
    out += piece.substr(from - passed, to - from);
    passed += piece.size();
  }
}

std::string Encoding::ToString() const {
  std::string text;
  text.reserve(size());
  AppendTo(text);
  return text;
}

}  // namespace apiserver::v0::runtime
