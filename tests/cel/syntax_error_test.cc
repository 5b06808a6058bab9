#include "cel/syntax/parser.h"

#include <catch2/catch.hpp>
#include <span>
#include <string>
#include <string_view>

#include "cel/syntax/token.h"

namespace syntax = apiserver::cel::syntax;

namespace {

// The issues of an expression in the order of their display, one a line: "1:5 message". OPERAND
// stands for the list of all tokens that begin an operand.
std::string IssueLines(std::string_view text, const syntax::ParseOptions& options = {}) {
  const syntax::SourceText source(text);
  syntax::Issues issues;
  syntax::Parse(source, options, issues);
  const std::string display = issues.Display(source);
  const std::string operands = syntax::kOperandStart.Display();
  constexpr std::string_view kHead = "ERROR: <input>:";
  std::string out;
  for (std::size_t at = display.find(kHead); at != std::string::npos;
       at = display.find(kHead, at + 1)) {
    std::string line = display.substr(at + kHead.size());
    line.resize(line.find('\n') == std::string::npos ? line.size() : line.find('\n'));
    line.replace(line.find(": "), 2, " ");
    if (const auto list = line.find(operands); list != std::string::npos) {
      line.replace(list, operands.size(), "OPERAND");
    }
    out += (out.empty() ? "" : "\n") + line;
  }
  return out;
}

struct TextWithIssues {
  std::string_view text;
  std::string_view issues;
};

// All issues are cel-go 0.26.0's, in Kubernetes 1.36's environment.
constexpr TextWithIssues kMissingOperands[] = {
    {"", "1:0 Syntax error: mismatched input '<EOF>' expecting OPERAND"},
    {" ", "1:2 Syntax error: mismatched input '<EOF>' expecting OPERAND"},
    {"1 +", "1:4 Syntax error: mismatched input '<EOF>' expecting OPERAND"},
    {"a &&", "1:5 Syntax error: mismatched input '<EOF>' expecting OPERAND"},
    {"a &&\n", "2:1 Syntax error: mismatched input '<EOF>' expecting OPERAND"},
    {"a ? b : ", "1:9 Syntax error: mismatched input '<EOF>' expecting OPERAND"},
    {"a == ", "1:6 Syntax error: mismatched input '<EOF>' expecting OPERAND"},
    {"()", "1:2 Syntax error: mismatched input ')' expecting OPERAND"},
    {"f(1,)", "1:5 Syntax error: mismatched input ')' expecting OPERAND"},
    {"f(",
     "1:3 Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', "
     "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"a[",
     "1:3 Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', '?', "
     "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"a[]",
     "1:3 Syntax error: mismatched input ']' expecting {'[', '{', '(', '.', '-', '!', '?', 'true', "
     "'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"[",
     "1:2 Syntax error: mismatched input '<EOF>' expecting {'[', ']', '{', '(', '.', ',', '-', "
     "'!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"{",
     "1:2 Syntax error: mismatched input '<EOF>' expecting {'[', '{', '}', '(', '.', ',', '-', "
     "'!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"{1:", "1:4 Syntax error: mismatched input '<EOF>' expecting OPERAND"},
    {"!", "1:2 Syntax error: extraneous input '<EOF>' expecting OPERAND"},
    {"[1, ?", "1:6 Syntax error: mismatched input '<EOF>' expecting OPERAND"},
    {"]", "1:1 Syntax error: mismatched input ']' expecting OPERAND"},
    {"}", "1:1 Syntax error: mismatched input '}' expecting OPERAND"},
    {"|| a", "1:1 Syntax error: extraneous input '||' expecting OPERAND"},
    {"a && || b", "1:6 Syntax error: extraneous input '||' expecting OPERAND"},
    {"1 + + 2", "1:5 Syntax error: extraneous input '+' expecting OPERAND"},
    {"f(,)",
     "1:3 Syntax error: extraneous input ',' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', "
     "'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
    {"f(1,,2)", "1:5 Syntax error: extraneous input ',' expecting OPERAND"},
    {"a{b:}", "1:5 Syntax error: mismatched input '}' expecting OPERAND"},
};

constexpr TextWithIssues kWhatFollows[] = {
    {"a b", "1:3 Syntax error: extraneous input 'b' expecting <EOF>"},
    {"a b c", "1:3 Syntax error: mismatched input 'b' expecting <EOF>"},
    {"a)", "1:2 Syntax error: extraneous input ')' expecting <EOF>"},
    {"a]", "1:2 Syntax error: extraneous input ']' expecting <EOF>"},
    {"a}", "1:2 Syntax error: extraneous input '}' expecting <EOF>"},
    {"1u8", "1:3 Syntax error: extraneous input '8' expecting <EOF>"},
    {"0xg", "1:2 Syntax error: extraneous input 'xg' expecting <EOF>"},
    {"1.5.6", "1:4 Syntax error: extraneous input '.6' expecting <EOF>"},
    {"a.?b(1)", "1:5 Syntax error: mismatched input '(' expecting <EOF>"},
    {"f(a)(b)", "1:5 Syntax error: mismatched input '(' expecting <EOF>"},
    {"a ? b", "1:6 Syntax error: mismatched input '<EOF>' expecting ':'"},
    {"a ? b c", "1:7 Syntax error: missing ':' at 'c'"},
    {"a ? b ? c : d : e", "1:7 Syntax error: mismatched input '?' expecting ':'"},
    {"(a", "1:3 Syntax error: missing ')' at '<EOF>'"},
    {"(a b)", "1:4 Syntax error: extraneous input 'b' expecting ')'"},
    {"(a b c)", "1:4 Syntax error: mismatched input 'b' expecting ')'"},
    {"a[1", "1:4 Syntax error: missing ']' at '<EOF>'"},
    {"a[1 2]", "1:5 Syntax error: extraneous input '2' expecting ']'"},
    {"f(1", "1:4 Syntax error: missing ')' at '<EOF>'"},
    {"f(1 2)", "1:5 Syntax error: extraneous input '2' expecting ')'"},
    {"f(1 2 3)", "1:5 Syntax error: mismatched input '2' expecting ')'"},
    {"[1,2", "1:5 Syntax error: mismatched input '<EOF>' expecting {']', ','}"},
    {"[1 2]", "1:4 Syntax error: extraneous input '2' expecting {']', ','}"},
    {"[1 2 3]", "1:4 Syntax error: mismatched input '2' expecting {']', ','}"},
    {"[1,,]", "1:4 Syntax error: extraneous input ',' expecting ']'"},
    {"[1,,2]", "1:4 Syntax error: mismatched input ',' expecting ']'"},
    {"{1:2", "1:5 Syntax error: mismatched input '<EOF>' expecting {'}', ','}"},
    {"{1 2}", "1:4 Syntax error: missing ':' at '2'"},
    {"{1}", "1:3 Syntax error: mismatched input '}' expecting ':'"},
    {"{1: 2 3}", "1:7 Syntax error: extraneous input '3' expecting {'}', ','}"},
    {"{1: 2,,}", "1:7 Syntax error: extraneous input ',' expecting '}'"},
    {"a{",
     "1:3 Syntax error: mismatched input '<EOF>' expecting {'}', ',', '?', IDENTIFIER, "
     "ESC_IDENTIFIER}"},
    {"a{b}", "1:4 Syntax error: mismatched input '}' expecting ':'"},
    {"a{1:2}",
     "1:3 Syntax error: mismatched input '1' expecting {'}', ',', '?', IDENTIFIER, "
     "ESC_IDENTIFIER}"},
    {"a{b:1 c:2}", "1:7 Syntax error: mismatched input 'c' expecting {'}', ','}"},
    {"a{?1}", "1:4 Syntax error: mismatched input '1' expecting {IDENTIFIER, ESC_IDENTIFIER}"},
};

constexpr TextWithIssues kNoAlternative[] = {
    {"a.", "1:3 Syntax error: no viable alternative at input '.'"},
    {"a.b.", "1:5 Syntax error: no viable alternative at input '.'"},
    {"a.(", "1:3 Syntax error: no viable alternative at input '.('"},
    {"a..b", "1:3 Syntax error: no viable alternative at input '..'"},
    {"a.true", "1:3 Syntax error: mismatched input 'true' expecting IDENTIFIER"},
    {"a.null", "1:3 Syntax error: mismatched input 'null' expecting IDENTIFIER"},
    {"a. true", "1:4 Syntax error: no viable alternative at input '. true'"},
    {".", "1:2 Syntax error: no viable alternative at input '.'"},
    {". ", "1:3 Syntax error: no viable alternative at input '. '"},
    {"..", "1:2 Syntax error: no viable alternative at input '..'"},
    {".true", "1:2 Syntax error: mismatched input 'true' expecting IDENTIFIER"},
    {".f.1", "1:3 Syntax error: extraneous input '.1' expecting <EOF>"},
    {"-!x", "1:2 Syntax error: no viable alternative at input '-!'"},
    {"- !x", "1:3 Syntax error: no viable alternative at input '- !'"},
    {"!-x", "1:3 Syntax error: no viable alternative at input '-x'"},
    {"a.@b+",
     "1:3 Syntax error: token recognition error at: '@'\n1:6 Syntax error: mismatched input "
     "'<EOF>' expecting OPERAND"},
    {"'a'.'b'", "1:5 Syntax error: no viable alternative at input '.'b''"},
};

constexpr TextWithIssues kNoTokens[] = {
    {"@",
     "1:1 Syntax error: token recognition error at: '@'\n1:2 Syntax error: mismatched input "
     "'<EOF>' expecting OPERAND"},
    {"a @ b",
     "1:3 Syntax error: token recognition error at: '@'\n1:5 Syntax error: extraneous input 'b' "
     "expecting <EOF>"},
    {"a @ b c",
     "1:3 Syntax error: token recognition error at: '@'\n1:5 Syntax error: mismatched input 'b' "
     "expecting <EOF>"},
    {"a = b",
     "1:3 Syntax error: token recognition error at: '= '\n1:5 Syntax error: extraneous input 'b' "
     "expecting <EOF>"},
    {"a =b", "1:3 Syntax error: token recognition error at: '=b'"},
    {"a === b", "1:5 Syntax error: token recognition error at: '= '"},
    {"a & b",
     "1:3 Syntax error: token recognition error at: '& '\n1:5 Syntax error: extraneous input 'b' "
     "expecting <EOF>"},
    {R"("abc)",
     "1:1 Syntax error: token recognition error at: '\"abc'\n1:5 Syntax error: mismatched input "
     "'<EOF>' expecting OPERAND"},
    {R"("a\qb")",
     "1:1 Syntax error: token recognition error at: '\"a\\q'\n1:6 Syntax error: token recognition "
     "error at: '\"'"},
    {"'''abc", "1:3 Syntax error: token recognition error at: ''abc'"},
    {"`a`", "1:1 Syntax error: mismatched input '`a`' expecting OPERAND"},
    {"a.`",
     "1:3 Syntax error: token recognition error at: '`'\n1:4 Syntax error: no viable alternative "
     "at input '.'"},
    {"世",
     "1:1 Syntax error: token recognition error at: '世'\n1:2 Syntax error: mismatched input "
     "'<EOF>' expecting OPERAND"},
    {"aéb",
     "1:2 Syntax error: token recognition error at: 'é'\n1:3 Syntax error: extraneous input 'b' "
     "expecting <EOF>"},
    {"'a\nb'",
     "1:1 Syntax error: token recognition error at: ''a\n2:2 Syntax error: token recognition error "
     "at: '''"},
    {"#",
     "1:1 Syntax error: token recognition error at: '#'\n1:2 Syntax error: mismatched input "
     "'<EOF>' expecting OPERAND"},
};

constexpr TextWithIssues kReserved[] = {
    {"if", "1:1 reserved identifier: if"},
    {"as + break", "1:1 reserved identifier: as\n1:6 reserved identifier: break"},
    {"namespace.name", "1:1 reserved identifier: namespace"},
    {"a.if + if", "1:8 reserved identifier: if"},
    {"if(else, for)", "1:1 reserved identifier: if"},
    {".if", "1:1 reserved identifier: if"},
    {"package.a(while)", "1:1 reserved identifier: package\n1:11 reserved identifier: while"},
    {"[var, void]", "1:2 reserved identifier: var\n1:7 reserved identifier: void"},
    {"{let: loop}", "1:2 reserved identifier: let\n1:7 reserved identifier: loop"},
    {"a.all(function, return)",
     "1:7 reserved identifier: function\n1:7 argument must be a simple name\n1:17 reserved "
     "identifier: return"},
};

constexpr TextWithIssues kWrongLiterals[] = {
    {"9223372036854775808", "1:1 invalid int literal"},
    {"-9223372036854775809", "1:1 invalid int literal"},
    {"0x10000000000000000", "1:1 invalid int literal"},
    {"18446744073709551616u", "1:1 invalid uint literal"},
    {"1e400", "1:1 invalid double literal"},
    {"- 1e400", "1:1 invalid double literal"},
    {R"('\ud800')", "1:1 invalid unicode code point"},
    {R"(b'\u0041')", "1:1 unable to unescape string"},
    {"[1e400, 'a', 99999999999999999999]", "1:2 invalid double literal\n1:14 invalid int literal"},
};

constexpr TextWithIssues kUnsupported[] = {
    {"a.`b-c`", "1:3 unsupported syntax: '`'"},
    {"a.?`b`", "1:4 unsupported syntax: '`'"},
    {"T{`a`: if}", "1:3 unsupported syntax: '`'"},
    {"T{a: 1, `b`: 2}", "1:3 unsupported syntax: '`'"},
};

// cel-go skips tokens and reports more issues after these.
constexpr TextWithIssues kFirstIssues[] = {
    {"+", "1:1 Syntax error: mismatched input '+' expecting OPERAND"},
    {"* ", "1:1 Syntax error: mismatched input '*' expecting OPERAND"},
    {"in", "1:1 Syntax error: mismatched input 'in' expecting OPERAND"},
    {"?", "1:1 Syntax error: mismatched input '?' expecting OPERAND"},
    {"a.?1", "1:4 Syntax error: mismatched input '1' expecting {IDENTIFIER, ESC_IDENTIFIER}"},
    {"a.?", "1:4 Syntax error: mismatched input '<EOF>' expecting {IDENTIFIER, ESC_IDENTIFIER}"},
    {"a.in", "1:3 Syntax error: no viable alternative at input '.in'"},
    {"-", "1:2 Syntax error: no viable alternative at input '-'"},
    {"a.\t+", "1:4 Syntax error: no viable alternative at input '.\\t+'"},
};

void CheckIssues(std::span<const TextWithIssues> cases) {
  for (const auto& [text, issues] : cases) {
    CAPTURE(text);
    CHECK(IssueLines(text) == issues);
  }
}

}  // namespace

TEST_CASE("cel: a missing operand is a mismatch, a token too many is extraneous", "[cel]") {
  CheckIssues(kMissingOperands);
}

TEST_CASE("cel: issues name the tokens that may follow an operand", "[cel]") {
  CheckIssues(kWhatFollows);
}

TEST_CASE("cel: a dot or minus that nothing goes on from has no viable alternative", "[cel]") {
  CheckIssues(kNoAlternative);
}

TEST_CASE("cel: an error that no single token repairs is the last one", "[cel]") {
  CheckIssues(kFirstIssues);
}

TEST_CASE("cel: text that is no token is an issue, and parsing goes on", "[cel]") {
  CheckIssues(kNoTokens);
}

TEST_CASE("cel: reserved words are no variables and no functions", "[cel]") {
  CheckIssues(kReserved);
}

TEST_CASE("cel: literals out of range are issues", "[cel]") { CheckIssues(kWrongLiterals); }

TEST_CASE("cel: fields between backticks are not supported by default", "[cel]") {
  CheckIssues(kUnsupported);
}

// Recorded from Kubernetes 1.27's environment.
TEST_CASE("cel: optional syntax needs an environment with optional types", "[cel]") {
  const syntax::ParseOptions options = {.optional_syntax = false,
                                        .macros = {.optional_types = false}};
  CHECK(IssueLines("a.?b", options) == "1:2 unsupported syntax '.?'");
  CHECK(IssueLines("a[?b]", options) == "1:2 unsupported syntax '[?'");
  CHECK(IssueLines("[?a, b]", options) == "1:2 unsupported syntax '?'");
  CHECK(IssueLines("{?a: if}", options) == "1:2 unsupported syntax '?'");
  CHECK(IssueLines("T{?a: if}", options) == "1:3 unsupported syntax '?'");
  CHECK(IssueLines("a.?`b`", options) ==
        "1:2 unsupported syntax '.?'\n1:4 unsupported syntax: '`'");
}

TEST_CASE("cel: an issue is displayed with its line", "[cel]") {
  const syntax::SourceText source("self.all(x,\n\t'世' + if in (x + 1");
  syntax::Issues issues;
  syntax::Parse(source, {}, issues);

  CHECK(issues.Display(source) ==
        "ERROR: <input>:2:8: reserved identifier: if\n"
        " |  '世' + if in (x + 1\n"
        " | ..．....^\n"
        "ERROR: <input>:2:20: Syntax error: mismatched input '<EOF>' expecting ')'\n"
        " |  '世' + if in (x + 1\n"
        " | ..．................^");
}

TEST_CASE("cel: a tree with issues has no root", "[cel]") {
  const syntax::SourceText source("a + if");
  syntax::Issues issues;

  CHECK(syntax::Parse(source, {}, issues).root() == syntax::kNoNode);
}
