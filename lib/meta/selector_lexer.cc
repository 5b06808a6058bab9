#include "meta/selector_lexer.h"

namespace apiserver::v0::meta {
namespace {

constexpr std::string_view kWhitespace = " \t\r\n";
constexpr std::string_view kSymbols = "=!(),><";
// Characters that end an identifier; NUL included, as in Go.
constexpr std::string_view kIdentifierEnds(" \t\r\n=!(),><\0", 12);

LabelTokenKind SymbolKind(char symbol) {
  switch (symbol) {
    case '=':
      return LabelTokenKind::kEquals;
    case '!':
      return LabelTokenKind::kNot;
    case '(':
      return LabelTokenKind::kOpen;
    case ')':
      return LabelTokenKind::kClose;
    case ',':
      return LabelTokenKind::kComma;
    case '>':
      return LabelTokenKind::kGreaterThan;
    default:
      return LabelTokenKind::kLessThan;
  }
}

LabelToken LexSymbol(std::string_view text) {
  if (text.starts_with("==")) return {LabelTokenKind::kDoubleEquals, text.substr(0, 2)};
  if (text.starts_with("!=")) return {LabelTokenKind::kNotEquals, text.substr(0, 2)};
  return {SymbolKind(text.front()), text.substr(0, 1)};
}

LabelToken LexIdentifier(std::string_view text) {
  const std::string_view word = text.substr(0, text.find_first_of(kIdentifierEnds));
  if (word == "in") return {LabelTokenKind::kIn, word};
  if (word == "notin") return {LabelTokenKind::kNotIn, word};
  return {LabelTokenKind::kIdentifier, word};
}

}  // namespace

std::vector<LabelToken> LexLabelSelector(std::string_view text) {
  std::vector<LabelToken> tokens;
  while (true) {
    const std::size_t begin = text.find_first_not_of(kWhitespace);
    if (begin == std::string_view::npos || text[begin] == '\0') break;
    text.remove_prefix(begin);
    const bool symbol = kSymbols.find(text.front()) != std::string_view::npos;
    tokens.push_back(symbol ? LexSymbol(text) : LexIdentifier(text));
    text.remove_prefix(tokens.back().text.size());
    // As in Go: the NUL that ended a token goes with it.
    if (text.starts_with('\0')) text.remove_prefix(1);
  }
  tokens.push_back({LabelTokenKind::kEnd, ""});
  return tokens;
}

}  // namespace apiserver::v0::meta
