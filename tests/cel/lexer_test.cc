#include "cel/syntax/lexer.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

namespace syntax = apiserver::cel::syntax;
using syntax::Lexed;
using syntax::SourceText;
using syntax::TokenKind;
using syntax::TokenSet;

namespace {

// The tokens of a text between bars, and in angle brackets what is no token.
std::string TokensOf(std::string_view text) {
  const SourceText source(text);
  const Lexed lexed = syntax::Lex(source);
  std::string out;
  auto error = lexed.errors.begin();
  for (const syntax::Token& token : lexed.tokens) {
    for (; error != lexed.errors.end() && error->begin < token.begin; ++error) {
      out += '<' + std::string(source.text().substr(error->begin, error->end - error->begin)) + '>';
    }
    if (token.kind == TokenKind::kEnd) continue;
    out += source.text().substr(token.begin, token.end - token.begin);
    out += '|';
  }
  for (; error != lexed.errors.end(); ++error) {
    out += '<' + std::string(source.text().substr(error->begin, error->end - error->begin)) + '>';
  }
  return out;
}

TokenKind KindOfToken(std::string_view text) {
  const Lexed lexed = syntax::Lex(SourceText(text));
  return lexed.tokens.size() == 2 && lexed.errors.empty() ? lexed.tokens[0].kind : TokenKind::kEnd;
}

}  // namespace

TEST_CASE("cel: each kind of token is told from the others", "[cel]") {
  CHECK(KindOfToken("12") == TokenKind::kInt);
  CHECK(KindOfToken("007") == TokenKind::kInt);
  CHECK(KindOfToken("0xAf") == TokenKind::kInt);
  CHECK(KindOfToken("12u") == TokenKind::kUint);
  CHECK(KindOfToken("0x1U") == TokenKind::kUint);
  CHECK(KindOfToken("1.5") == TokenKind::kDouble);
  CHECK(KindOfToken(".5e-3") == TokenKind::kDouble);
  CHECK(KindOfToken("1E+3") == TokenKind::kDouble);
  CHECK(KindOfToken("'a'") == TokenKind::kString);
  CHECK(KindOfToken("R\"\\\"") == TokenKind::kString);
  CHECK(KindOfToken("b'a'") == TokenKind::kBytes);
  CHECK(KindOfToken("Br'''a\n'b'''") == TokenKind::kBytes);
  CHECK(KindOfToken("in") == TokenKind::kIn);
  CHECK(KindOfToken("true") == TokenKind::kTrue);
  CHECK(KindOfToken("null") == TokenKind::kNull);
  CHECK(KindOfToken("ink") == TokenKind::kIdentifier);
  CHECK(KindOfToken("_1") == TokenKind::kIdentifier);
  CHECK(KindOfToken("if") == TokenKind::kIdentifier);
  CHECK(KindOfToken("`a-b/c.d e`") == TokenKind::kQuotedIdentifier);
  CHECK(KindOfToken(" // comment\n<= // another") == TokenKind::kLessEquals);
}

TEST_CASE("cel: the longest token wins", "[cel]") {
  CHECK(TokensOf("a<=b<c") == "a|<=|b|<|c|");
  CHECK(TokensOf("!!=!") == "!|!=|!|");
  CHECK(TokensOf("1.5.6") == "1.5|.6|");
  CHECK(TokensOf("1.a.b") == "1|.|a|.|b|");
  CHECK(TokensOf("1e+a") == "1|e|+|a|");
  CHECK(TokensOf("1.5e") == "1.5|e|");
  CHECK(TokensOf("0x1ug") == "0x1u|g|");
  CHECK(TokensOf("0xg") == "0|xg|");
  CHECK(TokensOf("0X1") == "0|X1|");
  CHECK(TokensOf("1uu") == "1u|u|");
  CHECK(TokensOf("rb'a'") == "rb|'a'|");
  CHECK(TokensOf("a//b\r\nc") == "a|c|");
  CHECK(TokensOf("a/ /b") == "a|/|/|b|");
}

TEST_CASE("cel: a long string ends at the first three quotes", "[cel]") {
  CHECK(TokensOf("'''a''b'''c") == "'''a''b'''|c|");
  CHECK(TokensOf("\"\"\"\"\"\"\"\"") == "\"\"\"\"\"\"|\"\"|");
  CHECK(TokensOf(R"("""\"""""")") == R"("""\""""|""|)");
  CHECK(TokensOf(R"(r"""\""""")") == R"(r"""\"""|""|)");
  CHECK(TokensOf("'''a\nb'''") == "'''a\nb'''|");
}

TEST_CASE("cel: text that is no token is skipped up to what shows it", "[cel]") {
  CHECK(TokensOf("a @b") == "a|<@>b|");
  CHECK(TokensOf("a = b") == "a|<= >b|");
  CHECK(TokensOf("a =b") == "a|<=b>");
  CHECK(TokensOf("a=\u00e9b") == "a|<=\u00e9>b|");
  CHECK(TokensOf("a|b&") == "a|<|b><&>");
  CHECK(TokensOf("\"abc") == "<\"abc>");
  CHECK(TokensOf("'a\nb") == "<'a\n>b|");
  CHECK(TokensOf(R"('\q')") == R"(<'\q><'>)");
  CHECK(TokensOf(R"('\u00g' a)") == R"(<'\u00g><' a>)");
  CHECK(TokensOf(R"('\400')") == R"(<'\4>00|<'>)");
  CHECK(TokensOf("'''abc") == "''|<'abc>");
  CHECK(TokensOf("r'abc") == "r|<'abc>");
  CHECK(TokensOf("b\"abc\n") == "b|<\"abc\n>");
  CHECK(TokensOf("`a b") == "<`a b>");
  CHECK(TokensOf("``a") == "<``>a|");
  CHECK(TokensOf("\u4e16") == "<\u4e16>");
}

TEST_CASE("cel: tokens know their place in code points and in bytes", "[cel]") {
  const Lexed lexed = syntax::Lex(SourceText("'\u4e16' + \U0001F600 b"));

  REQUIRE(lexed.tokens.size() == 4);
  CHECK(lexed.tokens[1].offset == 4);
  CHECK(lexed.tokens[1].begin == 6);
  REQUIRE(lexed.errors.size() == 1);
  CHECK(lexed.errors[0].offset == 6);
  CHECK(lexed.tokens[2].offset == 8);
  CHECK(lexed.tokens[3].kind == TokenKind::kEnd);
  CHECK(lexed.tokens[3].offset == 9);
}

TEST_CASE("cel: the lexer stops after a hundred and one errors", "[cel]") {
  const Lexed lexed = syntax::Lex(SourceText(std::string(5000, '@') + "a"));

  CHECK(lexed.errors.size() == 101);
  CHECK(lexed.tokens.size() == 1);
}

TEST_CASE("cel: expected tokens are listed in the grammar's order", "[cel]") {
  CHECK(TokenSet{TokenKind::kEnd}.Display() == "<EOF>");
  CHECK(TokenSet{TokenKind::kComma, TokenKind::kRightBracket}.Display() == "{']', ','}");
  CHECK(syntax::kOperandStart.Display() ==
        "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
        "STRING, BYTES, IDENTIFIER}");
}
