// plugin/policy/mutating/patch: smd_test.go, json_patch_test.go.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "admission/policy/patch.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/groups/apps.h"
#include "apiserver/runtime/settle.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: tests only.

namespace {

namespace policy = admission::policy;
using Patched = Result<std::unique_ptr<runtime::Object>>;

std::unique_ptr<runtime::Object> ObjectOf(const runtime::KindPtr& kind, const std::string& json) {
  auto decoded =
      codec::DecodeObject(codec::MediaType::kJson, std::make_shared<const std::string>(json),
                          {.kind = kind, .version = "v1"});
  REQUIRE(decoded.ok());
  return std::move(decoded->object);
}

std::unique_ptr<runtime::Object> Deployment(const std::string& spec) {
  return ObjectOf(groups::apps::Kinds().value().front(),
                  R"({"metadata":{"name":"d"},"spec":)" + spec + "}");
}

// The spec after the configuration, or the error.
std::string Merged(const std::string& spec, const std::string& configuration) {
  const auto object = Deployment(spec);
  runtime::Arena arena;
  const auto merged =
      policy::MergeConfiguration(*object, codec::ParseJson(configuration, arena).value(),
                                 patch::apply::ParseableType::ForObject(policy::SchemaOf(*object)));
  if (!merged.ok()) {
    CHECK(merged.status().reason() == Reason::kInvalid);
    return std::string(merged.status().message());
  }
  // As the plugin does, which sets defaults and brings fields into their order.
  REQUIRE(runtime::Settle(**merged).ok());
  std::string json;
  codec::AppendJson((**merged)["spec"], json);
  return json;
}

std::string Applied(const runtime::Object& object, const std::string& patch) {
  const Patched patched = policy::ApplyOperations(object, patch);
  if (!patched.ok()) return std::string(patched.status().message());
  if (!*patched) return "unchanged";
  std::string json;
  codec::AppendJson((**patched)["spec"], json);
  return json;
}

const std::string kPod =
    R"("template":{"metadata":{},"spec":{"containers":[{"name":"a","image":"x"},{"name":"b"}]}})";

}  // namespace

TEST_CASE("policy: a configuration is merged by the rules of its kind", "[admission]") {
  CHECK(Merged(R"({"replicas":1})", R"({"spec":{"replicas":3}})").find(R"("replicas":3)") !=
        std::string::npos);
  // Items of a list with keys are merged, others stay.
  const std::string both =
      Merged("{" + kPod + "}",
             R"({"spec":{"template":{"spec":{"containers":[{"name":"b","image":"y"}]}}}})");
  CHECK(both.find(R"({"name":"a","image":"x")") != std::string::npos);
  CHECK(both.find(R"({"name":"b","image":"y")") != std::string::npos);
  // A granular map is merged.
  const auto object = Deployment("{}");
  object->Edit("metadata", "labels", "a") = "1";
  runtime::Arena arena;
  const auto labelled = policy::MergeConfiguration(
      *object, codec::ParseJson(R"({"metadata":{"labels":{"b":"2"}}})", arena).value(),
      patch::apply::ParseableType::ForObject(policy::SchemaOf(*object)));
  REQUIRE(labelled.ok());
  CHECK((**labelled).labels()["a"].AsString() == "1");
  CHECK((**labelled).labels()["b"].AsString() == "2");
  CHECK((**labelled).name() == "d");
}

TEST_CASE("policy: a configuration must not set atomic parts", "[admission]") {
  const std::string why =
      "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or "
      "structs: ";
  CHECK(Merged("{}", R"({"spec":{"selector":{"matchLabels":{"a":"b"}}}})") ==
        why + ".spec.selector");
  CHECK(Merged("{" + kPod + "}",
               R"({"spec":{"template":{"spec":{"containers":[{"name":"a","args":["x"]}]}}}})") ==
        why + ".spec.template.spec.containers[0].args");
}

TEST_CASE("policy: a configuration must fit the type", "[admission]") {
  CHECK(
      Merged("{}", R"({"spec":{"unknown":1}})") ==
      "error applying patch: failed to convert patch object to typed object: .spec.unknown: field "
      "not declared in schema");
}

TEST_CASE("policy: JSON Patches change the object", "[admission]") {
  const auto widget = ObjectOf(testing::WidgetKind(), R"({"spec":{"size":1,"color":"red"}})");
  CHECK(Applied(*widget, R"([{"op":"replace","path":"/spec/size","value":2}])") ==
        R"({"size":2,"color":"red"})");
  CHECK(Applied(*widget, R"([{"op":"test","path":"/spec/size","value":1},)"
                         R"({"op":"remove","path":"/spec/color"}])") == R"({"size":1})");
  // A failing test is no error.
  CHECK(Applied(*widget, R"([{"op":"test","path":"/spec/size","value":2},)"
                         R"({"op":"remove","path":"/spec/color"}])") == "unchanged");
  CHECK(Applied(*widget, R"([{"op":"remove","path":"/spec/none/x"}])") ==
        "JSON Patch: remove operation does not apply: doc is missing path: \"/spec/none/x\": "
        "missing value");
  CHECK(Applied(*widget, "[]") == R"({"size":1,"color":"red"})");
}

TEST_CASE("policy: a JSON Patch cannot make what a client cannot send", "[admission]") {
  const auto widget = ObjectOf(testing::WidgetKind(), R"({"spec":{"size":1}})");
  const Patched unknown =
      policy::ApplyOperations(*widget, R"([{"op":"add","path":"/spec/unknown","value":2}])");
  CHECK(unknown.status().code() == 500);
  CHECK(unknown.status().message() ==
        "Internal error occurred: strict decoding error: unknown field \"spec.unknown\"");
  const Patched typed =
      policy::ApplyOperations(*widget, R"([{"op":"replace","path":"/spec/size","value":"x"}])");
  CHECK(typed.status().message() ==
        "Internal error occurred: json: cannot unmarshal string into Go struct field "
        "WidgetSpec.spec.size of type int32");
  const Patched other =
      policy::ApplyOperations(*widget, R"([{"op":"replace","path":"/kind","value":"Gadget"}])");
  CHECK(other.status().code() == 500);
}
