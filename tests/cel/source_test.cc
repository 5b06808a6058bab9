#include "cel/syntax/source.h"

#include <catch2/catch.hpp>
#include <string>

using apiserver::cel::syntax::Issues;
using apiserver::cel::syntax::kNoOffset;
using apiserver::cel::syntax::Location;
using apiserver::cel::syntax::SourceText;

namespace {

// The displayed text of one issue.
std::string DisplayAt(std::string_view text, std::uint32_t offset) {
  const SourceText source(text);
  Issues issues;
  issues.Add(offset, "message");
  return issues.Display(source);
}

}  // namespace

TEST_CASE("cel: places count lines from 1 and code points from 0", "[cel]") {
  const SourceText source("a\n\u00e9b\n\n\U0001F600c");

  CHECK(source.size() == 8);
  CHECK(source.LocationOf(0) == Location{1, 0});
  CHECK(source.LocationOf(1) == Location{1, 1});
  CHECK(source.LocationOf(2) == Location{2, 0});
  CHECK(source.LocationOf(3) == Location{2, 1});
  CHECK(source.LocationOf(5) == Location{3, 0});
  CHECK(source.LocationOf(7) == Location{4, 1});
  CHECK(source.LocationOf(8) == Location{4, 2});
  CHECK(source.LocationOf(kNoOffset) == Location{-1, -1});
  CHECK(source.Line(2) == "\u00e9b");
  CHECK(source.Line(3) == "");
  CHECK(source.Line(4) == "\U0001F600c");
  CHECK_FALSE(source.Line(0));
  CHECK_FALSE(source.Line(5));
}

TEST_CASE("cel: a text without characters has no lines", "[cel]") {
  CHECK_FALSE(SourceText("").Line(1));
  CHECK(DisplayAt("", 0) == "ERROR: <input>:1:0: message");
}

TEST_CASE("cel: bytes that are not UTF-8 become one character each", "[cel]") {
  const SourceText source("\xff\xc3(");

  CHECK(source.size() == 3);
  CHECK(source.text() == "\uFFFD\uFFFD(");
}

TEST_CASE("cel: an issue is displayed with its line and a pointer", "[cel]") {
  CHECK(DisplayAt("a + b", 4) == "ERROR: <input>:1:5: message\n | a + b\n | ....^");
  CHECK(DisplayAt("a\n\tb", 3) == "ERROR: <input>:2:2: message\n |  b\n | .^");
  CHECK(DisplayAt("a +", 3) == "ERROR: <input>:1:4: message\n | a +\n | ...^");
  CHECK(DisplayAt("a\n", 2) == "ERROR: <input>:2:1: message\n | \n | ^");
  CHECK(DisplayAt("a", kNoOffset) == "ERROR: <input>:-1:0: message");
}

TEST_CASE("cel: the pointer is wide below characters of several bytes", "[cel]") {
  CHECK(DisplayAt("'\u00e9' + \u4e16", 6) ==
        "ERROR: <input>:1:7: message\n | '\u00e9' + \u4e16\n | .\uFF0E....\uFF3E");
}

TEST_CASE("cel: a line of more than 16,384 bytes is not repeated", "[cel]") {
  const std::string longest(16384, 'a');

  CHECK(DisplayAt(longest, 0) == "ERROR: <input>:1:1: message\n | " + longest + "\n | ^");
  CHECK(DisplayAt(longest + "a", 0) == "ERROR: <input>:1:1: message");
}

TEST_CASE("cel: issues are sorted by place, those without one first", "[cel]") {
  const SourceText source("ab");
  Issues issues;
  issues.Add(1, "second");
  issues.Add(0, "first");
  issues.Add(1, "third");
  issues.Add(kNoOffset, "everywhere");

  CHECK(issues.Display(source) ==
        "ERROR: <input>:-1:0: everywhere\n"
        "ERROR: <input>:1:1: first\n | ab\n | ^\n"
        "ERROR: <input>:1:2: second\n | ab\n | .^\n"
        "ERROR: <input>:1:2: third\n | ab\n | .^");
}

TEST_CASE("cel: a hundred issues are displayed and the rest is counted", "[cel]") {
  const SourceText source("a");
  Issues issues;
  for (int i = 0; i < 103; ++i) issues.Add(kNoOffset, "message " + std::to_string(i));

  const std::string text = issues.Display(source);

  CHECK(issues.count() == 103);
  CHECK(issues.all().size() == 100);
  CHECK(text.find("message 99\n") != std::string::npos);
  CHECK(text.find("message 100") == std::string::npos);
  CHECK(text.substr(text.rfind('\n')) == "\n3 more errors were truncated");
}
