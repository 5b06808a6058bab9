// Patterns of schemas are those of Go's regexp, with its words for what is wrong.
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/patterns.h"

namespace {

using apiserver::runtime::Pattern;
using apiserver::runtime::Patterns;

struct PatternRow {
  std::string pattern;
  std::string problem;  // Without "error parsing regexp: ".
};

}  // namespace

TEST_CASE("runtime: a pattern that is wrong has Go's error", "[runtime]") {
  const std::vector<PatternRow> rows = {{"^[a-z]+$", ""},
                                        {"(", "missing closing ): `(`"},
                                        {"a)", "unexpected ): `a)`"},
                                        {"[a", "missing closing ]: `[a`"},
                                        {"a**", "invalid nested repetition operator: `**`"},
                                        {"*", "missing argument to repetition operator: `*`"},
                                        {"a{1001}", "invalid repeat count: `{1001}`"},
                                        {"\\C", "invalid escape sequence: `\\C`"},

                                        {"(?P<n", "invalid named capture: `(?P<n`"},
                                        {"(?<n", "invalid named capture: `(?<n`"},
                                        {"(?<a-b>x)", "invalid named capture: `(?<a-b>`"},
                                        {"(?z)", "invalid or unsupported Perl syntax: `(?z`"},
                                        {"\\p{Foo}", "invalid character class range: `\\p{Foo}`"}};
  for (const PatternRow& row : rows) {
    INFO(row.pattern);
    const std::string whole = row.problem.empty() ? "" : "error parsing regexp: " + row.problem;
    CHECK(Pattern(row.pattern).Problem() == whole);
    CHECK(Patterns().Add(row.pattern) == whole);
    // The check of the schema has refused it; until then it forbids nothing.
    if (!row.problem.empty()) CHECK(Pattern(row.pattern).Matches("x"));
  }
}

TEST_CASE("runtime: names of groups are written in both of Go's ways", "[runtime]") {
  for (const char* const text : {"^(?P<n>a)(?P<m>b)$", "^(?<n>a)(?<m>b)$", "^(?<n>a)(?<n>b)$"}) {
    INFO(text);
    const Pattern pattern{text};
    CHECK(pattern.Problem().empty());
    CHECK(pattern.Matches("ab"));
    CHECK_FALSE(pattern.Matches("ba"));
  }
  // Where they are no groups they stay.
  CHECK(Pattern("^[(?<n>a)]+$").Matches("(?<>n)"));
  CHECK(Pattern("^\\Q(?<n>\\E$").Matches("(?<n>"));
  CHECK(Pattern("^\\(?<n>$").Matches("(<n>"));
}

TEST_CASE("runtime: brackets without an end are not looked for again and again", "[runtime]") {
  // RE2 alone, or a translation that looks to the end at each of them, takes minutes.
  std::string text = "^[";
  for (int i = 0; i < 500'000; ++i) text += "[:";
  const Pattern pattern{text + "x]+$"};
  CHECK(pattern.Problem().empty());
  CHECK(pattern.Matches("[:["));
  CHECK_FALSE(pattern.Matches("\\"));
}
