#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace apiserver::inline v0::meta {

enum class LabelTokenKind : std::uint8_t {
  kEnd,
  kClose,
  kComma,
  kNot,
  kDoubleEquals,
  kEquals,
  kGreaterThan,
  kIdentifier,
  kIn,
  kLessThan,
  kNotEquals,
  kNotIn,
  kOpen,
};

struct LabelToken {
  LabelTokenKind kind = LabelTokenKind::kEnd;
  std::string_view text;  // Points into the selector.
};

// The tokens of a label selector; the last is kEnd. Every text can be lexed. A NUL byte ends a
// token, and the selector if it stands where a token would begin.
std::vector<LabelToken> LexLabelSelector(std::string_view text);

}  // namespace apiserver::inline v0::meta
