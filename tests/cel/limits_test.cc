#include <catch2/catch.hpp>
#include <string>
#include <string_view>

#include "cel/syntax/parser.h"

namespace syntax = apiserver::cel::syntax;

namespace {

std::string Repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

// The message of the only issue of an expression; empty if there is none.
std::string OnlyIssue(const std::string& text) {
  syntax::Issues issues;
  syntax::Parse(syntax::SourceText(text), {}, issues);
  if (issues.empty()) return {};
  return issues.count() == 1 ? issues.all()[0].message : std::to_string(issues.count());
}

// A text that nests: `open` and `close` around `inside`, as often as asked.
struct Nest {
  std::string_view open;
  std::string_view inside;
  std::string_view close;
  int deepest;

  std::string Text(int times) const {
    return Repeated(open, times) + std::string(inside) + Repeated(close, times);
  }
};

// The deepest nesting that cel-go 0.26.0 parses.
constexpr Nest kNested[] = {
    {"(", "1", ")", 249},    {"[", "1", "]", 249},    {"{1:", "1", "}", 249},
    {"f(", "1", ")", 249},   {"T{a:", "1", "}", 249}, {"(1+", "2", ")", 124},
    {"(1+2*", "3", ")", 83}, {"(1<", "2", ")", 124},  {"!(", "a", ")", 249},
    {"(a||", "b", ")", 249}, {"1?2:", "3", "", 249},  {"[1].all(x,", "x", ")", 249},
    {"((", "1", "))", 124},  {"(a&&!", "b", ")", 249}};

// The longest chain that becomes a tree: each link is one level of it.
constexpr Nest kChained[] = {{"", "a", ".b", 250},  {"", "a", ".b()", 250},
                             {"", "a", "[0]", 250}, {"", "a", ".?b", 250},
                             {"", "1", "+1", 250},  {"", "1", "*1", 250},
                             {"", "1", "<1", 250},  {"", "1", ".all(x,x)", 250}};

}  // namespace

TEST_CASE("cel: nesting is refused where cel-go refuses it", "[cel]") {
  for (const Nest& nest : kNested) {
    CAPTURE(nest.open);
    CHECK(OnlyIssue(nest.Text(nest.deepest)) == "");
    CHECK(OnlyIssue(nest.Text(nest.deepest + 1)) == "expression recursion limit exceeded: 250");
  }
}

TEST_CASE("cel: chains are refused where cel-go refuses them", "[cel]") {
  for (const Nest& chain : kChained) {
    CAPTURE(chain.close);
    CHECK(OnlyIssue(chain.Text(chain.deepest)) == "");
    CHECK(OnlyIssue(chain.Text(chain.deepest + 1)) == "max recursion depth exceeded");
  }
}

TEST_CASE("cel: what cel-go does not nest has no limit", "[cel]") {
  CHECK(OnlyIssue("a" + Repeated("||a", 20'000)) == "");
  CHECK(OnlyIssue("a" + Repeated("&&a", 20'000)) == "");
  CHECK(OnlyIssue(Repeated("!", 50'000) + "a") == "");
  CHECK(OnlyIssue(Repeated("-", 50'000) + "a") == "");
  CHECK(OnlyIssue("[" + Repeated("1,", 40'000) + "]") == "");
}

TEST_CASE("cel: expressions of more than 100,000 code points are refused", "[cel]") {
  const std::string longest = "'" + Repeated("\u00e9", 99'998) + "'";

  CHECK(OnlyIssue(longest) == "");
  CHECK(OnlyIssue(longest + " ") ==
        "expression code point size exceeds limit: size: 100001, limit 100000");
}

TEST_CASE("cel: an unfinished nesting of any depth ends at the limit", "[cel]") {
  for (const std::string_view open : {"(", "[", "{1:", "f(", "a[", "T{a:", "a?(b):("}) {
    CAPTURE(open);
    const std::string text = Repeated(open, static_cast<int>(100'000 / open.size()));
    CHECK(OnlyIssue(text) == "expression recursion limit exceeded: 250");
  }
}

TEST_CASE("cel: the parser gives up after thirty repairs", "[cel]") {
  const auto last = [](int times) {
    syntax::Issues issues;
    const std::string text = Repeated("(1 1)+", times) + "1";
    syntax::Parse(syntax::SourceText(text), {}, issues);
    return std::to_string(issues.count()) + ": " + issues.all().back().message;
  };

  CHECK(last(30) == "30: Syntax error: extraneous input '1' expecting ')'");
  CHECK(last(31) == "31: Syntax error: error recovery attempt limit exceeded: 30");
  CHECK(last(40) == "31: Syntax error: error recovery attempt limit exceeded: 30");
}

TEST_CASE("cel: a hundred syntax errors are reported, and one that there are more", "[cel]") {
  const syntax::SourceText source(Repeated("a@", 150));
  syntax::Issues issues;

  syntax::Parse(source, {}, issues);

  CHECK(issues.count() == 101);
  CHECK(issues.all()[0].message == "Syntax error: token recognition error at: '@'");
  CHECK(issues.all()[1].message == "Syntax error: mismatched input 'a' expecting <EOF>");
  CHECK(issues.all()[99].offset == 197);
  const std::string display = issues.Display(source);
  CHECK(display.substr(display.rfind('\n')) == "\n1 more errors were truncated");
}
