#include "cel/syntax/token_reader.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace apiserver::v0::cel::syntax {
namespace {

// cel-go gives up after as many tokens that it had to drop or to supply.
constexpr int kRecoveriesMax = 30;

constexpr std::size_t kSyntaxErrorsMax = 100;

}  // namespace

TokenReader::TokenReader(const SourceText& source) : source_(source), lexed_(Lex(source)) {}

const Token& TokenReader::Peek(std::size_t ahead) const {
  return lexed_.tokens[std::min(next_ + ahead, lexed_.tokens.size() - 1)];
}

std::string_view TokenReader::Text(std::uint32_t begin, std::uint32_t end) const {
  return source_.text().substr(begin, end - begin);
}

Token TokenReader::Take() {
  const Token token = Peek();
  supplied_ = false;
  if (next_ + 1 < lexed_.tokens.size()) ++next_;
  return token;
}

bool TokenReader::Sync(TokenSet expected) {
  if (expected.Has(kind())) return true;
  if (!expected.Has(kind(1))) return Mismatch(expected);
  ReportUnwanted(expected);
  Take();
  return true;
}

bool TokenReader::Expect(TokenKind wanted, TokenSet after) {
  if (kind() == wanted) {
    Take();
    return true;
  }
  const TokenSet expected = {wanted};
  if (recoveries_++ == kRecoveriesMax) {
    Report(Peek(), "error recovery attempt limit exceeded: " + std::to_string(kRecoveriesMax));
    return false;
  }
  if (kind(1) == wanted) {
    ReportUnwanted(expected);
    Take();
    Take();
    return true;
  }
  if (!after.Has(kind())) return Mismatch(expected);
  Report(Peek(), "missing " + expected.Display() + " at " + Display(Peek()));
  supplied_ = true;
  return true;
}

void TokenReader::StopWithoutAlternative(std::size_t ahead) {
  const Token& last = Peek(ahead);
  // The text between the tokens, with blanks and comments, but without what was no token.
  std::string input;
  std::uint32_t from = Peek().begin;
  for (const Lexed::Error& error : lexed_.errors) {
    if (error.begin < from || error.begin >= last.end) continue;
    input += Text(from, error.begin);
    from = error.end;
  }
  input += Text(from, last.end);
  // As cel-go did before it had ANTLR: a keyword after a dot is a name that is none.
  const std::string_view word = std::string_view(input).substr(1);
  if (word == "true" || word == "false" || word == "null") {
    Report(last, "mismatched input '" + std::string(word) + "' expecting IDENTIFIER");
  } else {
    Report(last, "no viable alternative at input " + Quoted(input));
  }
}

void TokenReader::StopAtLimit(std::string message) {
  limited_ = true;
  errors_.push_back({kNoOffset, std::move(message)});
}

Issues TokenReader::TakeIssues() {
  std::vector<Issue> all;
  for (const Lexed::Error& error : lexed_.errors) {
    // cel-go reads tokens as it needs them: it has not seen what comes after a limit.
    if (limited_ && error.offset > Peek().offset) break;
    all.push_back({error.offset, "Syntax error: token recognition error at: '" +
                                     std::string(Text(error.begin, error.end)) + "'"});
  }
  std::move(errors_.begin(), errors_.end(), std::back_inserter(all));
  std::stable_sort(all.begin(), all.end(), [](const Issue& left, const Issue& right) {
    return left.offset < right.offset;
  });
  Issues issues;
  for (Issue& issue : all) {
    if (issues.count() == kSyntaxErrorsMax && issue.offset != kNoOffset) {
      issues.Add(issue.offset, "Syntax error: More than 100 syntax errors");
      overflowed_ = true;
      break;
    }
    issues.Add(issue.offset, std::move(issue.message));
  }
  return issues;
}

std::string TokenReader::Quoted(std::string_view text) const {
  std::string out = "'";
  for (const char c : text) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  }
  return out + "'";
}

std::string TokenReader::Display(const Token& token) const {
  return token.kind == TokenKind::kEnd ? "'<EOF>'" : Quoted(text(token));
}

void TokenReader::Report(const Token& token, const std::string& message) {
  if (!supplied_) errors_.push_back({token.offset, "Syntax error: " + message});
}

void TokenReader::ReportUnwanted(TokenSet expected) {
  Report(Peek(), "extraneous input " + Display(Peek()) + " expecting " + expected.Display());
}

bool TokenReader::Mismatch(TokenSet expected) {
  Report(Peek(), "mismatched input " + Display(Peek()) + " expecting " + expected.Display());
  return false;
}

}  // namespace apiserver::v0::cel::syntax
