#include <catch2/catch.hpp>
#include <string>

#include "apiserver/codec/json.h"
#include "apiserver/meta/label_selector_value.h"

using namespace apiserver;  // NOLINT: a test.

namespace {

std::string AsText(const std::string& json) {
  runtime::Arena arena;
  const auto selector = meta::LabelSelectorAsSelector(codec::ParseJson(json, arena).value());
  return selector.ok() ? selector->ToString()
                       : "error: " + std::string(selector.status().message());
}

std::string Errors(const std::string& json, bool allow_invalid = false) {
  runtime::Arena arena;
  return meta::ValidateLabelSelector(codec::ParseJson(json, arena).value(),
                                     {.allow_invalid_label_value = allow_invalid},
                                     field::Path("selector"))
      .Aggregate();
}

}  // namespace

// metav1 TestLabelSelectorAsSelector
TEST_CASE("selector: a metav1.LabelSelector becomes a selector", "[meta]") {
  CHECK(AsText("{}").empty());
  CHECK(AsText(R"({"matchLabels":{"foo":"bar"}})") == "foo=bar");
  CHECK(AsText(R"({"matchExpressions":[{"key":"baz","operator":"In","values":["qux","norf"]}]})") ==
        "baz in (norf,qux)");
  CHECK(AsText(R"({"matchLabels":{"foo":"bar"},"matchExpressions":[)"
               R"({"key":"baz","operator":"In","values":["qux","norf"]}]})") ==
        "baz in (norf,qux),foo=bar");
  CHECK(AsText(R"({"matchExpressions":[{"key":"baz","operator":"NotIn","values":["a"]},)"
               R"({"key":"foo","operator":"Exists"},{"key":"no","operator":"DoesNotExist"}]})") ==
        "baz notin (a),foo,!no");
  CHECK(AsText(R"({"matchExpressions":[{"key":"baz","operator":"Exists","values":["a"]}]})") ==
        "error: matchExpressions[0].values: Forbidden: may not be specified when `operator` is "
        "'Exists' or 'DoesNotExist'");
}

TEST_CASE("selector: a comma in a value cannot add a term", "[meta]") {
  CHECK(AsText(R"({"matchLabels":{"a":"b,c=d"}})").starts_with("error: "));
  CHECK(AsText(R"({"matchExpressions":[{"key":"a","operator":"In","values":["b),c in (d"]}]})")
            .starts_with("error: "));
}

// metav1 validation TestValidateLabelSelector...
TEST_CASE("selector: what is wrong with a metav1.LabelSelector is told by its field", "[meta]") {
  CHECK(Errors(R"({"matchExpressions":[{"key":"a","operator":"In"}]})") ==
        "selector.matchExpressions[0].values: Required value: must be specified when `operator` is "
        "'In' or 'NotIn'");
  CHECK(Errors(R"({"matchExpressions":[{"key":"a","operator":"Like","values":["x"]}]})") ==
        "selector.matchExpressions[0].operator: Invalid value: \"Like\": not a valid selector "
        "operator");
  const std::string odd = R"({"matchExpressions":[{"key":"a","operator":"In","values":["-b"]}]})";
  CHECK(Errors(odd).starts_with("selector.matchExpressions[0].values[0]: Invalid value: \"-b\": "));
  CHECK(Errors(odd, /*allow_invalid=*/true).empty());
}
