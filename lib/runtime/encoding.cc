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

Encoding::Encoding(Composition composition, const BodyMarks& marks)
    : bytes_(std::move(composition.bytes)), marks_(marks) {
  auto composed = std::make_unique<Composed>();
  composed->own = std::move(composition.own);
  composed->own.shrink_to_fit();
  composed->pieces.reserve(composition.parts.size());
  for (const Composition::Part& part : composition.parts) {
    const std::string& text = part.shared ? *bytes_ : composed->own;
    composed->pieces.push_back(std::string_view(text).substr(part.begin, part.size));
    size_ += part.size;
  }
  composed_ = std::move(composed);
}

Encoding::~Encoding() = default;

// A spliced body is a range of shared bytes with a few bytes of its own inserted at `at_`. A body
// that is neither spliced nor composed inserts nothing.
Encoding::Pieces Encoding::pieces() const {
  Pieces pieces;
  if (composed_ != nullptr) {
    pieces.many_ = composed_->pieces;
    return pieces;
  }
  const std::string_view all = std::string_view(*bytes_).substr(begin_, size_);
  pieces.few_ = {all.substr(0, at_), {inserted_.data(), inserted_size_}, all.substr(at_)};
  return pieces;
}

std::size_t Encoding::own_bytes() const {
  if (composed_ == nullptr) return shared_ ? 0 : size_;
  return sizeof(Composed) + composed_->own.size() +
         composed_->pieces.size() * sizeof(std::string_view);
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
