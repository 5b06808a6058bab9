#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/cel/names.h"
#include "cel/table_exceptions.h"
#include "cel/table_rows.h"

// The tables of upstream's tests against Go's answers: issues, types, estimates, values, errors and
// run-time costs.
namespace {

using cel_test::Difference;
using cel_test::Exception;
using cel_test::Exceptions;
using cel_test::Judge;
using cel_test::Judged;
using cel_test::RowFile;

std::string Describe(const Judged& judged) {
  std::string text = judged.row->name;
  text.append("\n  ").append(judged.row->question["expr"].AsString());
  for (const Difference& difference : judged.differences) {
    text.append("\n  ").append(difference.member);
    text.append("\n    Go   ").append(difference.go);
    text.append("\n    ours ").append(difference.ours);
  }
  return text;
}

// Fails for each row that differs without a reason, for each that has a reason and is equal, and
// for each reason without a row.
void CheckFile(const std::string& name) {
  const RowFile file(name);
  CHECK_FALSE(file.rows().empty());
  Exceptions exceptions(name);
  for (const Judged& judged : Judge(file)) {
    const std::string_view expression = judged.row->question["expr"].AsString();
    const Exception* const exception = exceptions.Find(judged.row->name, expression);
    const bool equal = judged.differences.empty();
    if (equal == (exception == nullptr)) continue;
    if (equal) {
      FAIL_CHECK("equal, although it should differ (" << exception->reason
                                                      << "): " << judged.row->name);
    } else {
      FAIL_CHECK(Describe(judged));
    }
  }
  for (const Exception* const unused : exceptions.Unused()) {
    FAIL_CHECK("no row needs the exception " << unused->row);
  }
}

// The files whose rows are expressions that Go has answered.
constexpr std::string_view kFiles[] = {"cel_spec",    "crd_cost",     "crd_estimate", "crd_rules",
                                       "crd_compile", "library_cost", "library",      "values",
                                       "patch_types", "policy"};

}  // namespace

TEST_CASE("cel: cel-spec's tests have Go's answers", "[cel][tables]") { CheckFile("cel_spec"); }

TEST_CASE("cel: rules of custom resources cost what they cost in Go", "[cel][tables]") {
  CheckFile("crd_cost");
}

TEST_CASE("cel: rules of custom resources are estimated as in Go", "[cel][tables]") {
  CheckFile("crd_estimate");
}

TEST_CASE("cel: rules of custom resources have Go's answers", "[cel][tables]") {
  CheckFile("crd_rules");
}

TEST_CASE("cel: rules that do not compile have Go's issues", "[cel][tables]") {
  CheckFile("crd_compile");
}

TEST_CASE("cel: functions cost what they cost in Go", "[cel][tables]") {
  CheckFile("library_cost");
}

TEST_CASE("cel: functions have Go's answers", "[cel][tables]") { CheckFile("library"); }

TEST_CASE("cel: data seen through schemas has Go's values", "[cel][tables]") {
  CheckFile("values");
}

TEST_CASE("cel: objects of mutating policies have Go's answers", "[cel][tables]") {
  CheckFile("patch_types");
}

TEST_CASE("cel: expressions of policies have Go's answers", "[cel][tables]") {
  CheckFile("policy");
}

TEST_CASE("cel: names escape as in Go", "[cel][tables]") {
  const RowFile file("names");
  CHECK(file.upstream().size() == 59);
  for (const auto& row : file.upstream()) {
    const std::string_view unescaped = row["unescaped"].AsString();
    INFO(unescaped);
    if (row["unescapable"].AsBool()) {
      CHECK_FALSE(apiserver::cel::Escape(unescaped).has_value());
      continue;
    }
    CHECK(apiserver::cel::Escape(unescaped) == row["escaped"].AsString());
    CHECK(apiserver::cel::Unescape(row["escaped"].AsString()) == unescaped);
  }
}

// Hidden: cel_test "[report]" prints it.
TEST_CASE("cel: the rows of each table that are equal", "[.][report]") {
  std::size_t equal = 0;
  std::size_t all = 0;
  for (const std::string_view name : kFiles) {
    const RowFile file{std::string(name)};
    const std::vector<Judged> rows = Judge(file);
    const auto count = static_cast<std::size_t>(std::count_if(
        rows.begin(), rows.end(), [](const Judged& judged) { return judged.differences.empty(); }));
    WARN(name << ": " << count << " of " << rows.size() << " rows are equal");
    equal += count;
    all += rows.size();
  }
  WARN("all: " << equal << " of " << all);
}
