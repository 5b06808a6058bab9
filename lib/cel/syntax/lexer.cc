#include "cel/syntax/lexer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "text/ascii.h"
#include "text/hex.h"
#include "text/utf8.h"

namespace apiserver::v0::cel::syntax {
namespace {

using std::string_view;

// The end of the longest token at the start of a text. Without one `end` is 0, and `stuck` is where
// the first character stands that no token goes on with.
struct Match {
  TokenKind kind = TokenKind::kEnd;
  std::size_t end = 0;
  std::size_t stuck = 0;
};

constexpr std::pair<string_view, TokenKind> kPunctuation[] = {
    {"==", TokenKind::kEquals},
    {"!=", TokenKind::kNotEquals},
    {"<=", TokenKind::kLessEquals},
    {">=", TokenKind::kGreaterEquals},
    {"&&", TokenKind::kAnd},
    {"||", TokenKind::kOr},
    {"<", TokenKind::kLess},
    {">", TokenKind::kGreater},
    {"[", TokenKind::kLeftBracket},
    {"]", TokenKind::kRightBracket},
    {"{", TokenKind::kLeftBrace},
    {"}", TokenKind::kRightBrace},
    {"(", TokenKind::kLeftParenthesis},
    {")", TokenKind::kRightParenthesis},
    {".", TokenKind::kDot},
    {",", TokenKind::kComma},
    {"-", TokenKind::kMinus},
    {"!", TokenKind::kNot},
    {"?", TokenKind::kQuestionMark},
    {":", TokenKind::kColon},
    {"+", TokenKind::kPlus},
    {"*", TokenKind::kStar},
    {"/", TokenKind::kSlash},
    {"%", TokenKind::kPercent},
};

constexpr std::pair<string_view, TokenKind> kKeywords[] = {{"in", TokenKind::kIn},
                                                           {"true", TokenKind::kTrue},
                                                           {"false", TokenKind::kFalse},
                                                           {"null", TokenKind::kNull}};

bool IsNameCharacter(char c) { return text::IsLetter(c) || text::IsDigit(c) || c == '_'; }
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

// The position after the characters from `at` on that `is` accepts.
template <typename Is>
std::size_t SkipWhile(string_view text, std::size_t at, Is is) {
  while (at < text.size() && is(text[at])) ++at;
  return at;
}

// The position after an exponent at `at`; `at` if there is none.
std::size_t SkipExponent(string_view text, std::size_t at) {
  if (at >= text.size() || (text[at] != 'e' && text[at] != 'E')) return at;
  std::size_t digits = at + 1;
  if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
  const std::size_t end = SkipWhile(text, digits, text::IsDigit);
  return end > digits ? end : at;
}

bool IsUnsignedMark(string_view text, std::size_t at) {
  return at < text.size() && (text[at] == 'u' || text[at] == 'U');
}

// A number, which begins with a digit, or with a dot before one.
Match MatchNumber(string_view text) {
  if (text.starts_with("0x")) {
    const std::size_t end = SkipWhile(text, 2, text::IsHexDigit);
    if (end > 2 && IsUnsignedMark(text, end)) return {TokenKind::kUint, end + 1};
    if (end > 2) return {TokenKind::kInt, end};
  }
  const std::size_t whole = SkipWhile(text, 0, text::IsDigit);
  if (whole < text.size() && text[whole] == '.') {
    const std::size_t fraction = SkipWhile(text, whole + 1, text::IsDigit);
    if (fraction > whole + 1) return {TokenKind::kDouble, SkipExponent(text, fraction)};
  }
  if (const std::size_t end = SkipExponent(text, whole); end > whole) {
    return {TokenKind::kDouble, end};
  }
  if (IsUnsignedMark(text, whole)) return {TokenKind::kUint, whole + 1};
  return {TokenKind::kInt, whole};
}

// The position after the escape sequence whose backslash is at `at`; nullopt if it is none, and
// then `stuck` is the character that shows it.
std::optional<std::size_t> SkipEscape(string_view text, std::size_t at, std::size_t& stuck) {
  stuck = at + 1;
  if (stuck >= text.size()) return std::nullopt;
  const char letter = text[stuck];
  if (string_view("abfnrtv\"'\\?`").find(letter) != string_view::npos) return at + 2;
  std::size_t digits = 0;
  const bool octal = letter >= '0' && letter <= '3';
  if (octal || letter == 'x' || letter == 'X') digits = 2;
  if (letter == 'u') digits = 4;
  if (letter == 'U') digits = 8;
  if (digits == 0) return std::nullopt;
  const std::size_t end = at + 2 + digits;
  for (stuck = at + 2; stuck < end; ++stuck) {
    if (stuck >= text.size()) return std::nullopt;
    const char c = text[stuck];
    if (octal ? c < '0' || c > '7' : !text::IsHexDigit(c)) return std::nullopt;
  }
  return end;
}

// A string of one line, whose quote is at `open`.
Match MatchPlainString(string_view text, std::size_t open, bool raw) {
  std::size_t at = open + 1;
  while (at < text.size()) {
    const char c = text[at];
    if (c == text[open]) return {TokenKind::kString, at + 1};
    if (c == '\n' || c == '\r') return {.stuck = at};
    if (c == '\\' && !raw) {
      std::size_t stuck = 0;
      const auto end = SkipEscape(text, at, stuck);
      if (!end) return {.stuck = stuck};
      at = *end;
    } else {
      ++at;
    }
  }
  return {.stuck = at};
}

// A string between three quotes each, the first of which is at `open`. It ends at the first three.
Match MatchLongString(string_view text, std::size_t open, bool raw) {
  const string_view quotes = text.substr(open, 3);
  std::size_t at = open + 3;
  while (at < text.size()) {
    if (text.substr(at, 3) == quotes) return {TokenKind::kString, at + 3};
    if (text[at] == '\\' && !raw) {
      std::size_t stuck = 0;
      const auto end = SkipEscape(text, at, stuck);
      if (!end) return {.stuck = stuck};
      at = *end;
    } else {
      ++at;
    }
  }
  return {.stuck = at};
}

// A string or bytes literal with its prefix, [bB]?[rR]?. An unfinished long string is the empty
// string that its first two quotes are. Returns no match where no quote follows the prefix.
std::optional<Match> MatchString(string_view text) {
  std::size_t open = 0;
  const bool bytes = text.starts_with('b') || text.starts_with('B');
  if (bytes) ++open;
  const string_view rest = text.substr(open);
  const bool raw = rest.starts_with('r') || rest.starts_with('R');
  if (raw) ++open;
  if (open >= text.size() || (text[open] != '"' && text[open] != '\'')) return std::nullopt;

  Match match = MatchPlainString(text, open, raw);
  const bool three = text.substr(open, 3) == std::string(3, text[open]);
  if (three) {
    const Match longer = MatchLongString(text, open, raw);
    if (longer.end > match.end) match = longer;
  }
  if (match.end > 0 && bytes) match.kind = TokenKind::kBytes;
  return match;
}

Match MatchName(string_view text) {
  const std::size_t end = SkipWhile(text, 0, IsNameCharacter);
  for (const auto& [word, kind] : kKeywords) {
    if (text.substr(0, end) == word) return {kind, end};
  }
  return {TokenKind::kIdentifier, end};
}

Match MatchQuotedName(string_view text) {
  const std::size_t end = SkipWhile(text, 1, [](char c) {
    return IsNameCharacter(c) || c == '.' || c == '-' || c == '/' || c == ' ';
  });
  if (end > 1 && end < text.size() && text[end] == '`') {
    return {TokenKind::kQuotedIdentifier, end + 1};
  }
  return {.stuck = end};
}

Match MatchPunctuation(string_view text) {
  for (const auto& [sign, kind] : kPunctuation) {
    if (text.starts_with(sign)) return {kind, sign.size()};
  }
  // The first half of a sign of two characters shows only with the next one that it is none.
  const bool half = text[0] == '=' || text[0] == '&' || text[0] == '|';
  return {.stuck = half ? std::size_t{1} : std::size_t{0}};
}

// The longest token at the start of `text`, which begins neither with a blank nor with a comment.
Match MatchToken(string_view text) {
  const char first = text[0];
  const bool dot_number = first == '.' && text.size() > 1 && text::IsDigit(text[1]);
  if (text::IsDigit(first) || dot_number) return MatchNumber(text);
  if (first == '`') return MatchQuotedName(text);
  const bool name = text::IsLetter(first) || first == '_';
  if (const std::optional<Match> string = MatchString(text)) {
    // A prefix without a whole string is a name.
    if (string->end > 0 || !name) return *string;
  }
  return name ? MatchName(text) : MatchPunctuation(text);
}

// The number of code points in UTF-8 text.
std::uint32_t CountCodePoints(string_view text) {
  return static_cast<std::uint32_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

class Lexer {
 public:
  explicit Lexer(string_view text) : text_(text) {}

  Lexed Run() {
    while (SkipHidden() && lexed_.errors.size() <= Lexed::kErrorsMax) Next();
    lexed_.tokens.push_back({TokenKind::kEnd, offset_, Position(), Position()});
    return std::move(lexed_);
  }

 private:
  string_view Rest() const { return text_.substr(at_); }
  std::uint32_t Position() const { return static_cast<std::uint32_t>(at_); }

  void Advance(std::size_t bytes) {
    offset_ += CountCodePoints(text_.substr(at_, bytes));
    at_ += bytes;
  }

  // Goes to the next character that is neither blank nor comment; false at the end.
  bool SkipHidden() {
    while (at_ < text_.size()) {
      if (IsBlank(text_[at_])) {
        Advance(1);
      } else if (Rest().starts_with("//")) {
        Advance(std::min(Rest().find('\n'), Rest().size()));
      } else {
        return true;
      }
    }
    return false;
  }

  void Next() {
    const Match match = MatchToken(Rest());
    const std::uint32_t offset = offset_;
    const std::uint32_t begin = Position();
    if (match.end > 0) {
      Advance(match.end);
      lexed_.tokens.push_back({match.kind, offset, begin, Position()});
      return;
    }
    // The character that shows the error is skipped as well.
    std::size_t skipped = match.stuck;
    if (skipped < Rest().size()) skipped += text::FirstRune(Rest().substr(skipped)).text.size();
    Advance(skipped);
    lexed_.errors.push_back({offset, begin, Position()});
  }

  string_view text_;
  std::size_t at_ = 0;
  std::uint32_t offset_ = 0;
  Lexed lexed_;
};

}  // namespace

Lexed Lex(const SourceText& source) { return Lexer(source.text()).Run(); }

std::string TokenSet::Display() const {
  constexpr std::array kNames = {
      "<EOF>",   "'=='",     "'!='",   "'in'",    "'<'",        "'<='",
      "'>='",    "'>'",      "'&&'",   "'||'",    "'['",        "']'",
      "'{'",     "'}'",      "'('",    "')'",     "'.'",        "','",
      "'-'",     "'!'",      "'?'",    "':'",     "'+'",        "'*'",
      "'/'",     "'%'",      "'true'", "'false'", "'null'",     "NUM_FLOAT",
      "NUM_INT", "NUM_UINT", "STRING", "BYTES",   "IDENTIFIER", "ESC_IDENTIFIER"};
  std::string names;
  int count = 0;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (!Has(static_cast<TokenKind>(i))) continue;
    if (count++ > 0) names += ", ";
    names += kNames[i];
  }
  return count == 1 ? names : "{" + names + "}";
}

}  // namespace apiserver::v0::cel::syntax
