// The options in the queries of requests to pods/exec, pods/log and their like.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/codec/protobuf.h"
#include "apiserver/groups/core_options.h"
#include "codec/text.h"
#include "groups/validation_rows.h"

namespace {

namespace core = apiserver::groups::core;
using apiserver::Result;
using apiserver::codec::testing::Json;
using apiserver::meta::QueryValues;
using apiserver::runtime::KindPtr;
using apiserver::runtime::Object;
using apiserver::testing::Lines;

KindPtr OptionKind(const std::string& name) {
  const auto kinds = core::OptionKinds();
  REQUIRE(kinds.ok());
  for (const KindPtr& kind : *kinds) {
    if (kind->kind() == name) return kind;
  }
  FAIL(name);
  return nullptr;
}

Result<std::unique_ptr<Object>> FromQuery(const std::string& kind, const QueryValues& query) {
  return core::OptionsFromQuery(OptionKind(kind), query);
}

std::string OptionsText(const std::string& kind, const QueryValues& query) {
  const auto options = FromQuery(kind, query);
  INFO(options.status().ToString());
  REQUIRE(options.ok());
  return Json((*options)->root());
}

}  // namespace

TEST_CASE("groups: the query of an exec is its options", "[groups]") {
  CHECK(OptionsText("PodExecOptions", {}) == "{}");
  CHECK(OptionsText("PodExecOptions", {{"command", "ls"},
                                       {"stdout", "true"},
                                       {"command", "-l"},
                                       {"container", "a"},
                                       {"container", "b"},
                                       {"unknown", "x"}}) ==
        R"({"stdout":true,"container":"a","command":["ls","-l"]})");
}

// Convert_Slice_string_To_bool.
TEST_CASE("groups: a bool of a query is true but for 0 and false", "[groups]") {
  CHECK(OptionsText("PodAttachOptions",
                    {{"stdin", "0"}, {"stdout", ""}, {"stderr", "FaLse"}, {"tty", "no"}}) ==
        R"({"stdin":false,"stdout":true,"stderr":false,"tty":true})");
}

TEST_CASE("groups: ports of a query are lists with commas, as Go reads them", "[groups]") {
  CHECK(OptionsText("PodPortForwardOptions", {{"ports", "80,443"}, {"ports", "8080"}}) ==
        R"({"ports":[80,443,8080]})");
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"80,", R"(parsing "": invalid syntax)"},
           {"65536", R"(parsing "65536": value out of range)"},
           {"-1", R"(parsing "-1": invalid syntax)"}}) {
    CHECK(FromQuery("PodPortForwardOptions", {{"ports", text}}).status().message() ==
          "cannot convert to []int32: strconv.ParseUint: " + error);
  }
}

TEST_CASE("groups: numbers and times of a log's query are Go's", "[groups]") {
  CHECK(OptionsText(
            "PodLogOptions",
            {{"follow", "1"}, {"sinceTime", "2026-01-02T03:04:05.6+01:00"}, {"tailLines", "+7"}}) ==
        R"({"follow":true,"sinceTime":"2026-01-02T02:04:05Z","tailLines":7})");
  CHECK(OptionsText("PodLogOptions", {{"sinceTime", ""}}) == R"({"sinceTime":null})");
  CHECK(OptionsText("PodLogOptions", {{"sinceTime", "null"}}) == R"({"sinceTime":null})");
  const auto number = FromQuery("PodLogOptions", {{"limitBytes", "abc"}}).status();
  CHECK(number.message() == R"(strconv.ParseInt: parsing "abc": invalid syntax)");
  CHECK(number.reason() == apiserver::Reason::kBadRequest);
  CHECK(FromQuery("PodLogOptions", {{"sinceTime", "today"}}).status().message() ==
        R"(parsing time "today" as "2006-01-02T15:04:05Z07:00": cannot parse "today" as "2006")");
}

// v1/validation/validation_test.go TestValidatePodLogOptions.
TEST_CASE("groups: options of logs are refused as a Go server refuses them", "[groups]") {
  struct LogRow {
    QueryValues query;
    Lines errors = {};
  };
  const std::string time = "2026-01-02T03:04:05Z";
  const std::string both =
      "[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified";
  for (const LogRow& row : std::vector<LogRow>{
           {{}},
           {{{"tailLines", "8"}, {"sinceSeconds", "10"}, {"limitBytes", "10"}}},
           {{{"tailLines", "0"}, {"sinceTime", time}}},
           {{{"tailLines", "-8"}},
            {"tailLines: Invalid value: -8: must be greater than or equal to 0"}},
           {{{"limitBytes", "0"}}, {"limitBytes: Invalid value: 0: must be greater than 0"}},
           {{{"sinceSeconds", "0"}}, {"sinceSeconds: Invalid value: 0: must be greater than 0"}},
           {{{"sinceSeconds", "10"}, {"sinceTime", time}}, {both}},
           {{{"sinceSeconds", "0"}, {"sinceTime", ""}}, {both}},
           {{{"stream", "Stdout"}}, {"stream: Forbidden: may not be specified"}}}) {
    const auto options = FromQuery("PodLogOptions", row.query);
    REQUIRE(options.ok());
    Lines errors;
    for (const auto& error : core::ValidatePodLogOptions(**options)) {
      errors.push_back(error.Message());
    }
    CHECK(errors == row.errors);
  }
}

TEST_CASE("groups: options have protobuf, as the objects of CONNECT admission", "[groups]") {
  const auto kinds = core::OptionKinds();
  REQUIRE(kinds.ok());
  CHECK(kinds->size() == 7);
  for (const KindPtr& kind : *kinds) CHECK(apiserver::codec::HasProtobuf(*kind, "v1"));
}
