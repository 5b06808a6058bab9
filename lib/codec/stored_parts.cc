#include "codec/stored_parts.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

namespace apiserver::v0::codec {
namespace {

using Composition = runtime::Encoding::Composition;

// Equal parts are found by blocks of this size.
constexpr std::size_t kBlock = 32;
// Shorter parts are not shared: to name one takes memory, too.
constexpr std::size_t kPartMin = 128;
constexpr std::size_t kBodyMin = 1024;

// Finds blocks of a text by their content.
class Blocks {
 public:
  explicit Blocks(std::string_view text)
      : text_(text), places_(std::bit_ceil(2 * (text.size() / kBlock) + 2)) {
    for (std::size_t at = 0; at + kBlock <= text.size(); at += kBlock) {
      std::uint32_t& place = places_[IndexOf(text.data() + at)];
      // The first of several serves as well as any.
      if (place == 0) place = static_cast<std::uint32_t>(at + 1);
    }
  }

  // Returns where the text has the block that begins at `block`. Its size: it was not found.
  std::size_t Find(const char* block) const {
    const std::uint32_t place = places_[IndexOf(block)];
    const bool same = place > 0 && std::memcmp(text_.data() + place - 1, block, kBlock) == 0;
    return same ? place - 1 : text_.size();
  }

 private:
  std::size_t IndexOf(const char* block) const {
    constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < kBlock; i += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, block + i, sizeof(word));
      hash = (hash ^ word) * kFactor;
      hash ^= hash >> 32;
    }
    return hash & (places_.size() - 1);
  }

  const std::string_view text_;
  std::vector<std::uint32_t> places_;  // One more than the offset. Zero: none.
};

// A part that both texts have.
struct Match {
  std::size_t in_body = 0;
  std::size_t in_stored = 0;
  std::size_t size = 0;
};

// Lets a match of one block grow, in the body not before `from`.
Match Grown(Match match, std::string_view body, std::string_view stored, std::size_t from) {
  while (match.in_body > from && match.in_stored > 0 &&
         body[match.in_body - 1] == stored[match.in_stored - 1]) {
    --match.in_body;
    --match.in_stored;
    ++match.size;
  }
  const std::size_t most = std::min(body.size() - match.in_body, stored.size() - match.in_stored);
  while (match.size < most &&
         body[match.in_body + match.size] == stored[match.in_stored + match.size]) {
    ++match.size;
  }
  return match;
}

class Composer {
 public:
  Composer(const std::shared_ptr<const std::string>& stored, std::string_view body) : body_(body) {
    composition_.bytes = stored;
  }

  // Each place that is in no shared part costs one look-up and at most kPartMin comparisons.
  Composition Run() {
    const std::string_view stored = *composition_.bytes;
    const Blocks blocks(stored);
    for (std::size_t at = 0; at + kBlock <= body_.size();) {
      const std::size_t found = blocks.Find(body_.data() + at);
      Match match{at, found, found < stored.size() ? kBlock : 0};
      if (match.size > 0) match = Grown(match, body_, stored, done_);
      if (match.size < kPartMin) {
        ++at;
        continue;
      }
      AddOwn(match.in_body);
      composition_.parts.push_back({true, static_cast<std::uint32_t>(match.in_stored),
                                    static_cast<std::uint32_t>(match.size)});
      at = done_ = match.in_body + match.size;
    }
    AddOwn(body_.size());
    return std::move(composition_);
  }

 private:
  void AddOwn(std::size_t end) {
    if (end == done_) return;
    composition_.parts.push_back({false, static_cast<std::uint32_t>(composition_.own.size()),
                                  static_cast<std::uint32_t>(end - done_)});
    composition_.own += body_.substr(done_, end - done_);
    done_ = end;
  }

  const std::string_view body_;
  std::size_t done_ = 0;  // The body up to here is composed.
  Composition composition_;
};

}  // namespace

runtime::EncodingPtr ComposedOfStored(const std::shared_ptr<const std::string>& stored,
                                      const runtime::EncodedBody& body) {
  // Bytes that are no JSON have little of a body of JSON.
  const bool json = stored != nullptr && stored->starts_with('{');
  if (!json || body.text.size() < kBodyMin) return nullptr;
  auto encoding = std::make_shared<const runtime::Encoding>(
      Composer(stored, body.text).Run(), static_cast<const runtime::BodyMarks&>(body));
  return encoding->own_bytes() <= body.text.size() / 2 ? encoding : nullptr;
}

}  // namespace apiserver::v0::codec
