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

// Splits a label selector into tokens; the last one is kEnd. Every text can be split. A NUL byte
// ends a token, and the selector if a token would begin there.
std::vector<LabelToken> LexLabelSelector(std::string_view text);

}  // namespace apiserver::inline v0::meta
