#include "apiextensions/serving/scale_values.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "apiserver/codec/json.h"
#include "apiserver/runtime/kind.h"
#include "apiserver/runtime/object.h"

namespace {

using namespace apiserver;
using namespace apiserver::apiextensions;

// Returns what is wrong with the Scale's values of a JSON object.
std::string WrongSpec(const std::string& json, const std::string& path = ".spec.replicas") {
  runtime::Arena arena;
  const auto text = std::make_shared<const std::string>(json);
  arena.Pin(text);
  const Result<runtime::Value> root = codec::ParseJson(*text, arena);
  REQUIRE(root.ok());
  const runtime::Object object(runtime::Kind::Untyped({"example.com", "v1", "Foo"}), "v1",
                               std::move(arena), *root);
  const field::ErrorList errors = ValidateScaleSpec(object, {.spec_replicas = path});
  return errors.empty() ? "" : errors.Aggregate();
}

std::string WrongStatus(const std::string& json) {
  runtime::Arena arena;
  const auto text = std::make_shared<const std::string>(json);
  arena.Pin(text);
  const Result<runtime::Value> root = codec::ParseJson(*text, arena);
  REQUIRE(root.ok());
  const runtime::Object object(runtime::Kind::Untyped({"example.com", "v1", "Foo"}), "v1",
                               std::move(arena), *root);
  const field::ErrorList errors =
      ValidateScaleStatus(object, {.label_selector = ".status.selector"});
  return errors.empty() ? "" : errors.Aggregate();
}

// A kube-apiserver 1.35 answered so; the last is ValidateScaleSpec's.
TEST_CASE("apiextensions: the replicas of a Scale are small integers") {
  CHECK(WrongSpec(R"({"spec":{"replicas":3}})").empty());
  CHECK(WrongSpec(R"({"spec":{"replicas":0}})").empty());
  CHECK(WrongSpec(R"({"spec":{"replicas":2147483647}})").empty());
  CHECK(WrongSpec(R"({"spec":{}})").empty());
  CHECK(WrongSpec(R"({})").empty());
  CHECK(WrongSpec(R"({"spec":null})").empty());
  CHECK(WrongSpec(R"({"spec":{"replicas":-1}})") ==
        ".spec.replicas: Invalid value: -1: should be a non-negative integer");
  CHECK(WrongSpec(R"({"spec":{"replicas":9223372036854775807}})") ==
        ".spec.replicas: Invalid value: 9223372036854775807: should be less than or equal to "
        "2147483647");
  CHECK(WrongSpec(R"({"spec":{"replicas":"5"}})") ==
        ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 5 is of the type string, "
        "expected int64");
  CHECK(WrongSpec(R"({"spec":{"replicas":1.5}})") ==
        ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 1.5 is of the type "
        "float64, expected int64");
  CHECK(WrongSpec(R"({"spec":{"replicas":null}})") ==
        ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: <nil> is of the type "
        "<nil>, expected int64");
}

TEST_CASE("apiextensions: the path of replicas leads through objects") {
  CHECK(WrongSpec(R"({"spec":{"a":{"b":7}}})", ".spec.a.b").empty());
  CHECK(WrongSpec(R"({"spec":{"a":"x"}})", ".spec.a.b") ==
        ".spec.a.b: Invalid value: 0: .spec.a.b accessor error: x is of the type string, expected "
        "map[string]interface{}");
  CHECK(WrongSpec(R"({"spec":{"a":true}})", ".spec.a.b.c") ==
        ".spec.a.b.c: Invalid value: 0: .spec.a.b accessor error: true is of the type bool, "
        "expected map[string]interface{}");
}

TEST_CASE("apiextensions: a Scale's status has a number and a text") {
  CHECK(WrongStatus(R"({"status":{"replicas":3,"selector":"a=b"}})").empty());
  CHECK(WrongStatus(R"({"spec":{"replicas":"x"}})").empty());
  CHECK(WrongStatus(R"({"status":{"replicas":1e300}})") ==
        ".status.replicas: Invalid value: 0: .status.replicas accessor error: 1e+300 is of the "
        "type float64, expected int64");
  CHECK(WrongStatus(R"({"status":{"selector":4}})") ==
        ".status.selector: Invalid value: \"\": .status.selector accessor error: 4 is of the type "
        "int64, expected string");
}

}  // namespace
