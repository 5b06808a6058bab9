// Changes of a schema and of objects in turn, as a kube-apiserver 1.35.4 has answered them:
// tests/testdata/apiextensions/README.md.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "apiextensions/documents/recorded.h"
#include "apiextensions/fixture.h"
#include "apiserver/codec/json.h"

namespace {

using namespace apiserver;  // NOLINT: a test.
using runtime::Value;
using testing::Answer;
using testing::CustomServer;

constexpr char kSequenceObjects[] = "/apis/mygroup.example.com/v1beta1/namespaces/default/mycrds";
constexpr char kSequenceName[] = "mycrds.mygroup.example.com";

std::string SequenceText(const Value& value) {
  std::string json;
  codec::AppendJson(value, json);
  return json;
}

std::string SequenceDefinition() {
  return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"mycrds.mygroup.example.com"},"spec":{"group":"mygroup.example.com",
"scope":"Namespaced","names":{"plural":"mycrds","kind":"MyCoolCRD","listKind":"MyCoolCRDList"},
"versions":[{"name":"v1beta1","served":true,"storage":true,"subresources":{"status":{}},
"schema":{"openAPIV3Schema":{"type":"object"}}}]}})";
}

void UseSequenceSchema(const CustomServer& server, const Value& schema) {
  const std::string patch =
      R"([{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema","value":)" +
      SequenceText(schema) + "}]";
  const Answer answer =
      server.Call("PATCH", std::string(testing::kDefinitions) + "/" + kSequenceName, patch,
                  {{"Content-Type", "application/json-patch+json"}});
  INFO(answer.body);
  REQUIRE(answer.code == 200);
}

// Returns the causes of an error in the order of the recorded rows.
std::vector<std::string> SequenceCauses(const Answer& answer) {
  std::vector<std::string> causes;
  for (const Value& cause : answer["details"]["causes"].items()) {
    causes.push_back(std::string(cause["field"].AsString()) + ": " +
                     std::string(cause["message"].AsString()));
  }
  std::sort(causes.begin(), causes.end());
  return causes;
}

std::vector<std::string> SequenceTexts(const Value& list) {
  std::vector<std::string> texts;
  for (const Value& text : list.items()) texts.emplace_back(text.AsString());
  return texts;
}

std::vector<std::string> SequenceWarnings(const Answer& answer) {
  std::vector<std::string> warnings;
  for (const std::string_view text : answer.headers.GetAll("Warning")) warnings.emplace_back(text);
  std::sort(warnings.begin(), warnings.end());
  return warnings;
}

void ApplySequenceStep(const CustomServer& server, const Value& step, bool status) {
  const std::string name(step["name"].AsString());
  const std::string item = std::string(kSequenceObjects) + "/" + name;
  std::string body = SequenceText(step["apply"]);
  const bool empty = step["apply"].size() == 0;
  body.insert(1, R"("apiVersion":"mygroup.example.com/v1beta1","kind":"MyCoolCRD",)"
                 R"("metadata":{"name":")" +
                     name + R"(","namespace":"default"})" + (empty ? "" : ","));
  if (status && server.Get(item).code == 404) {
    REQUIRE(server.Call("POST", kSequenceObjects, body).code == 201);
  }
  const Answer answer =
      server.Apply(item + (status ? "/status" : ""), body, "fieldManager=manager");
  INFO(SequenceText(step) << "\n" << answer.body);
  CHECK(answer.code == step["code"].AsInt());
  CHECK(SequenceCauses(answer) == SequenceTexts(step["causes"]));
  CHECK(SequenceWarnings(answer) == SequenceTexts(step["warnings"]));
  if (step["message"].is_string()) CHECK(answer.message() == step["message"].AsString());
}

// TestRatchetingFunctionality of test/integration/ratcheting_test.go, all sequences.
TEST_CASE("apiextensions: objects keep what a stricter schema forbids as upstream lets them") {
  const CustomServer server;
  server.Define(SequenceDefinition(), kSequenceName);
  const auto sequences = testing::Recorded::Lines("apiextensions/sequences.jsonl");
  for (const Value& sequence : sequences.values()) {
    const bool status = sequence["status"].AsBool();
    INFO(sequence["name"].AsString() << (status ? " of the status" : ""));
    for (const Value& step : sequence["steps"].items()) {
      if (step["schema"].is_null()) {
        ApplySequenceStep(server, step, status);
      } else {
        UseSequenceSchema(server, step["schema"]);
      }
    }
    REQUIRE(server.Call("DELETE", kSequenceObjects).code == 200);
  }
  CHECK(sequences.values().size() >= 15);
}

}  // namespace
