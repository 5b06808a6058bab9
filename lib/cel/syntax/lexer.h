#pragma once

#include <vector>

#include "cel/syntax/source.h"
#include "cel/syntax/token.h"

namespace apiserver::inline v0::cel::syntax {

// The tokens of a text, the last one of which is kEnd, and what is no token. As in ANTLR's lexer
// the longest token wins, and text that begins no token is skipped up to the character that shows
// it.
struct Lexed {
  // More errors than this stop the lexer: the rest of the text is as if it were not there.
  static constexpr std::size_t kErrorsMax = 100;

  // Text that is no token.
  struct Error {
    std::uint32_t offset = 0;  // Code points.
    std::uint32_t begin = 0;   // Bytes.
    std::uint32_t end = 0;
  };

  std::vector<Token> tokens;
  std::vector<Error> errors;
};
Lexed Lex(const SourceText& source);

}  // namespace apiserver::inline v0::cel::syntax
