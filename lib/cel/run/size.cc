#include "cel/run/size.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cel/declare/range.h"

namespace apiserver::v0::cel {

namespace {

constexpr std::uint64_t kHighBits = 0x8080'8080'8080'8080;

std::uint64_t WordAt(std::string_view text, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, text.data() + at, 8);
  return word;
}

// Returns where the text may cease to be ASCII: its size if it does not, else where eight bytes
// begin that are not all ASCII. 0 for a shorter text.
std::size_t EndOfAscii(std::string_view text) {
  if (text.size() < 8) return 0;
  // The last eight bytes may overlap those before.
  const std::size_t last = text.size() - 8;
  std::size_t at = 0;
  for (; at < last; at += 8) {
    if ((WordAt(text, at) & kHighBits) != 0) return at;
  }
  return (WordAt(text, last) & kHighBits) == 0 ? text.size() : std::min(at, last);
}

// Counts the code points of a text whose first bytes are ASCII: bytes that continue no sequence,
// eight at a time.
[[gnu::noinline]] std::uint64_t CodePointsAfter(std::size_t at, std::string_view text) {
  std::size_t continuing = 0;
  for (; at + 8 <= text.size(); at += 8) {
    const std::uint64_t word = WordAt(text, at);
    // Counting bits is a call, which ASCII need not make.
    if ((word & kHighBits) == 0) continue;
    // A byte 10xxxxxx: its high bit is set, the next is not.
    continuing += static_cast<std::size_t>(std::popcount(word & ~(word << 1U) & kHighBits));
  }
  for (; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) ++continuing;
  }
  return text.size() - continuing;
}

inline std::uint64_t CountCodePoints(std::string_view text) {
  const std::size_t ascii = EndOfAscii(text);
  return ascii == text.size() ? ascii : CodePointsAfter(ascii, text);
}

}  // namespace

std::uint64_t CodePoints(std::string_view text) { return CountCodePoints(text); }

std::uint64_t CostSize(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kString:
      return CodePoints(value.AsText());
    case Value::Kind::kBytes:
    case Value::Kind::kList:
    case Value::Kind::kMap:
      return value.size();
    case Value::Kind::kOptional: {
      // Optionals may hold optionals; a loop, since their depth is the expression's.
      const Value* held = value.AsOptional();
      while (held != nullptr && held->Is(Value::Kind::kOptional)) held = held->AsOptional();
      return held == nullptr ? 1 : CostSize(*held);
    }
    case Value::Kind::kOpaque: {
      const auto size = value.opaque_kind().size;
      return size == nullptr ? 1 : size(&value.AsOpaque<char>());
    }
    default:
      return 1;
  }
}

std::uint64_t TraversalCost(const Value& value, double factor) {
  if (value.is_string()) return MultiplyByFactor(CountCodePoints(value.AsText()), factor);
  return MultiplyByFactor(CostSize(value), factor);
}

}  // namespace apiserver::v0::cel
