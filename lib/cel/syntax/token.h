#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

// The tokens of CEL.g4 in the grammar's order, in which messages list what is expected.
namespace apiserver::inline v0::cel::syntax {

enum class TokenKind : std::uint8_t {
  kEnd,
  kEquals,
  kNotEquals,
  kIn,
  kLess,
  kLessEquals,
  kGreaterEquals,
  kGreater,
  kAnd,
  kOr,
  kLeftBracket,
  kRightBracket,
  kLeftBrace,
  kRightBrace,
  kLeftParenthesis,
  kRightParenthesis,
  kDot,
  kComma,
  kMinus,
  kNot,
  kQuestionMark,
  kColon,
  kPlus,
  kStar,
  kSlash,
  kPercent,
  kTrue,
  kFalse,
  kNull,
  kDouble,
  kInt,
  kUint,
  kString,
  kBytes,
  kIdentifier,
  kQuotedIdentifier,  // `a-b`, with its backticks.
};

// One token: a part of the source, without blanks and comments around it.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint32_t offset = 0;  // Code points.
  std::uint32_t begin = 0;   // Bytes.
  std::uint32_t end = 0;
};

// A set of kinds of tokens.
class TokenSet {
 public:
  constexpr TokenSet() = default;
  constexpr TokenSet(std::initializer_list<TokenKind> kinds) {
    for (const TokenKind kind : kinds) bits_ |= Bit(kind);
  }

  constexpr bool Has(TokenKind kind) const { return (bits_ & Bit(kind)) != 0; }
  constexpr TokenSet operator|(TokenSet other) const {
    TokenSet both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }
  // The set as ANTLR's messages have it: `']'`, `{']', ','}`, `<EOF>`.
  std::string Display() const;

 private:
  static constexpr std::uint64_t Bit(TokenKind kind) {
    return std::uint64_t{1} << static_cast<unsigned>(kind);
  }

  std::uint64_t bits_ = 0;
};

// Tokens that begin an operand.
inline constexpr TokenSet kOperandStart = {
    TokenKind::kLeftBracket, TokenKind::kLeftBrace, TokenKind::kLeftParenthesis,
    TokenKind::kDot,         TokenKind::kMinus,     TokenKind::kNot,
    TokenKind::kTrue,        TokenKind::kFalse,     TokenKind::kNull,
    TokenKind::kDouble,      TokenKind::kInt,       TokenKind::kUint,
    TokenKind::kString,      TokenKind::kBytes,     TokenKind::kIdentifier};

// Tokens between two operands, without the question mark of a conditional.
inline constexpr TokenSet kBinaryOperators = {
    TokenKind::kEquals,        TokenKind::kNotEquals, TokenKind::kIn,   TokenKind::kLess,
    TokenKind::kLessEquals,    TokenKind::kGreater,   TokenKind::kAnd,  TokenKind::kOr,
    TokenKind::kGreaterEquals, TokenKind::kMinus,     TokenKind::kPlus, TokenKind::kStar,
    TokenKind::kSlash,         TokenKind::kPercent};

}  // namespace apiserver::inline v0::cel::syntax
