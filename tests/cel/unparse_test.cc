#include "cel/syntax/unparse.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "cel/syntax/parser.h"
#include "cel/tree_text.h"

namespace syntax = apiserver::cel::syntax;
using apiserver::testing::TreeText;

namespace {

constexpr syntax::ParseOptions kAllSyntax = {.quoted_fields = true, .macros = {.bind = true}};

// Writes the expression that was parsed, and checks that it parses to the same tree.
std::string Rewritten(std::string_view text) {
  syntax::Issues issues;
  const syntax::Ast ast = syntax::Parse(syntax::SourceText(text), kAllSyntax, issues);
  REQUIRE(issues.empty());
  std::string written = syntax::Unparse(ast);
  const syntax::Ast again = syntax::Parse(syntax::SourceText(written), kAllSyntax, issues);
  REQUIRE(issues.empty());
  CHECK(TreeText(again, false).Write() == TreeText(ast, false).Write());
  return written;
}

// Expressions that are written as they were.
constexpr std::string_view kSame[] = {
    "a + b * c",
    "(a + b) * c",
    "a - (b - c)",
    "a - b - c",
    "a < b == c",
    "a < (b == c)",
    "a && b && c && d && e",
    "a && (b && c)",
    "a || b && c || d",
    "(a || b) && c",
    "a ? b : c ? d : e",
    "(a ? b : c) ? (d ? e : f) : g",
    "!a.b",
    "!(a && b)",
    "!(!a)",
    "-(-a)",
    "-(1)",
    "-(1.a)",
    "-1.a",
    "a - -1",
    "-a[0].b",
    "x in [1, 2u, 3.5, 1e+100, -0.0]",
    "[?a, b][?0].?c",
    "{1: 2, ?\"a\": b}",
    "a.B{c: 1, ?d: 2, in_: {}}",
    ".a(.b)",
    "a.`b-c`.?`in`",
    "has(a.b) && [1].all(x, x > 0)",
    "o.optMap(x, x + 1).orValue(2)",
    "l.sortBy(x, -x).transformMapEntry(k, v, k > 1, {v: k})",
    "cel.bind(x, 1, x)",
    "true ? false : null",
};

}  // namespace

TEST_CASE("cel: a tree is written with the parentheses that it needs", "[cel]") {
  for (const std::string_view text : kSame) {
    CAPTURE(text);
    CHECK(Rewritten(text) == text);
  }
  CHECK(Rewritten("((a)) + ((b * c))") == "a + b * c");
  CHECK(Rewritten("(a && b) && c") == "a && b && c");
  CHECK(Rewritten("!!a - - -b") == "a - b");
}

TEST_CASE("cel: literals are written with escapes", "[cel]") {
  CHECK(Rewritten("'a\"\\\\\\n\\x01\u4e16'") == "\"a\\\"\\\\\\x0a\\x01\u4e16\"");
  CHECK(Rewritten(R"(b'\xff\'é')") == R"(b"\xff'\xc3\xa9")");
  CHECK(Rewritten("0x10") == "16");
  CHECK(Rewritten("0x10u") == "16u");
  CHECK(Rewritten("1e3") == "1000.0");
  CHECK(Rewritten("-9223372036854775808") == "-9223372036854775808");
}

TEST_CASE("cel: a tree without a root is written as nothing", "[cel]") {
  CHECK(syntax::Unparse(syntax::Ast()).empty());
}
