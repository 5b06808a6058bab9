#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cel/syntax/lexer.h"
#include "cel/syntax/source.h"
#include "cel/syntax/token.h"

namespace apiserver::inline v0::cel::syntax {

// Hands the parser one token after the other and words what it did not expect as ANTLR does:
// clients have seen "Syntax error: mismatched input ..." for years. A token too many is dropped and
// a missing one is supplied where ANTLR does that too; any other error stops the reader.
class TokenReader {
 public:
  explicit TokenReader(const SourceText& source);

  // The token `ahead` tokens after the next one; kEnd past the last one.
  const Token& Peek(std::size_t ahead = 0) const;
  TokenKind kind(std::size_t ahead = 0) const { return Peek(ahead).kind; }
  std::string_view text(const Token& token) const { return Text(token.begin, token.end); }
  // Takes the next token.
  Token Take();

  // Makes sure that the next token is one of `expected`, for which one token may have to be
  // dropped. False: the reader has stopped.
  [[nodiscard]] bool Sync(TokenSet expected);
  // Takes a token of the kind. It may be missing if the next one is in `after`, which is what may
  // follow it. False: the reader has stopped.
  [[nodiscard]] bool Expect(TokenKind kind, TokenSet after);
  // Stops: the next token cannot follow an exclamation mark.
  void StopAtUnwanted(TokenSet expected) { ReportUnwanted(expected); }
  // Stops: no rule goes on from the next token with the one `ahead` tokens after it.
  void StopWithoutAlternative(std::size_t ahead);
  // Stops: the expression is nested too deeply.
  void StopAtLimit(std::string message);

  // An exceeded limit has ended the parse: cel-go does not look at the tree then.
  bool limited() const { return limited_ || overflowed_; }
  // Syntax errors and exceeded limits, in the order in which they were found.
  Issues TakeIssues();

 private:
  std::string_view Text(std::uint32_t begin, std::uint32_t end) const;
  std::string Quoted(std::string_view text) const;
  std::string Display(const Token& token) const;
  void Report(const Token& token, const std::string& message);
  void ReportUnwanted(TokenSet expected);
  bool Mismatch(TokenSet expected);

  const SourceText& source_;
  Lexed lexed_;
  std::size_t next_ = 0;
  int recoveries_ = 0;
  bool supplied_ =
      false;  // A token was missing, and none has been taken since: errors are its echo.
  bool limited_ = false;
  bool overflowed_ = false;  // There were too many syntax errors.
  std::vector<Issue> errors_;
};

}  // namespace apiserver::inline v0::cel::syntax
