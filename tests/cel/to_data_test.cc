#include "apiserver/cel/to_data.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/base/context.h"
#include "apiserver/cel/compile.h"
#include "apiserver/cel/evaluate.h"
#include "apiserver/codec/json.h"

using namespace apiserver;  // NOLINT: tests only.

namespace {

// Values that expressions make.
struct Evaluation {
  cel::Value Of(const std::string& text) {
    const auto program = cel::Compile(environment, text);
    INFO(program.status().message());
    REQUIRE(program.ok());
    programs.push_back(*program);
    cel::Budget budget;
    const cel::Outcome outcome =
        cel::Evaluate(programs.back(), {}, budget, scratch, Context::Background());
    INFO(outcome.error);
    REQUIRE(outcome.ok());
    return outcome.value;
  }
  // The value as JSON, or the error.
  std::string Json(const std::string& text) {
    runtime::Arena arena;
    const auto data = cel::ToData(Of(text), scratch.arena(), arena);
    if (!data.ok()) return std::string(data.status().message());
    std::string json;
    codec::AppendJson(*data, json);
    return json;
  }
  std::string Mismatch(const std::string& text) {
    return std::string(cel::CheckTypeNames(Of(text), scratch.arena()).message());
  }

  cel::Environment environment =
      cel::Environment::Kubernetes({1, 36}, cel::Mode::kStored)
          .With({}, {cel::Type::Struct(cel::StructType{.name = "Object", .open = true})});
  std::vector<cel::Program> programs;
  cel::Scratch scratch;
};

}  // namespace

TEST_CASE("cel: values become JSON", "[cel]") {
  Evaluation evaluation;
  CHECK(evaluation.Json("{'a': 1}") == R"({"a":1})");
  CHECK(evaluation.Json("Object{a: [1, 2], b: Object.b{c: null, d: 1.5, e: 2u}}") ==
        R"({"a":[1,2],"b":{"c":null,"d":1.5,"e":2}})");
  CHECK(evaluation.Json("Object{a: b'xyz', b: duration('90s'), c: true}") ==
        R"({"a":"eHl6","b":"90s","c":true})");
  CHECK(evaluation.Json("Object{a: timestamp('2020-01-02T03:04:05Z')}") ==
        R"({"a":"2020-01-02T03:04:05Z"})");
  CHECK(evaluation.Json("optional.of('x')") == R"("x")");
  CHECK(evaluation.Json("18446744073709551615u") == "18446744073709552000");
}

TEST_CASE("cel: what is no JSON is told", "[cel]") {
  Evaluation evaluation;
  CHECK(evaluation.Json("{1: 'a'}") == "a map key of type int is no JSON");
  CHECK(evaluation.Json("type(1)") == "a value of type type is no JSON");
  CHECK(evaluation.Json("1.0 / 0.0") == "a number without a value is no JSON");
}

TEST_CASE("cel: the names of structs are their paths", "[cel]") {
  Evaluation evaluation;
  CHECK(evaluation.Mismatch("Object{spec: Object.spec{a: [Object.spec.a{b: 1}]}}") == "");
  CHECK(evaluation.Mismatch("Object{m: {'k': Object.m{}}}") == "");
  CHECK(evaluation.Mismatch("Object{spec: Object.specs{a: Object.spec.a{}}}") ==
        "unexpected type name \"Object.specs\", expected \"Object.spec\", which matches field name "
        "path from root Object type");
  CHECK(evaluation.Mismatch("Object{a: Object.b{}, c: [Object.d{}]}") ==
        "unexpected type name \"Object.b\", expected \"Object.a\", which matches field name path "
        "from root Object type\n"
        "unexpected type name \"Object.d\", expected \"Object.c\", which matches field name path "
        "from root Object type");
}

TEST_CASE("cel: a map of values", "[cel]") {
  Evaluation evaluation;
  const std::pair<std::string_view, cel::Value> entries[] = {{"a", cel::Value::Int(1)},
                                                             {"b", cel::Value::String("x")}};
  const cel::Value map = cel::MapOf(entries, evaluation.scratch.arena());
  CHECK(map.is_map());
  runtime::Arena arena;
  std::string json;
  codec::AppendJson(cel::ToData(map, evaluation.scratch.arena(), arena).value(), json);
  CHECK(json == R"({"a":1,"b":"x"})");
}
