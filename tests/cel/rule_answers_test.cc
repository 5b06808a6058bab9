#include <algorithm>
#include <catch2/catch.hpp>
#include <cctype>
#include <fstream>
#include <string>
#include <vector>

#include "apiserver/cel/rule_check.h"
#include "apiserver/cel/rules.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"

// Compares answers about rules with Go's, word for word: tests/cel/data/rule_answers.jsonl.
namespace apiserver::cel {
namespace {

using runtime::SchemaPtr;
using Answers = std::vector<std::string>;
using Question = runtime::Value;

constexpr std::string_view kSchemaPath = "spec.versions[0].schema.openAPIV3Schema";

// Go gives the type of self a new name each time.
std::string WithoutNumbers(std::string text) {
  constexpr std::string_view kName = "selfType";
  for (std::size_t at = 0; (at = text.find(kName, at)) != std::string::npos;) {
    at += kName.size();
    std::size_t end = at;
    while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
    text.erase(at, end - at);
  }
  return text;
}

// Go visits members in a random order.
Answers Sorted(Answers answers) {
  std::sort(answers.begin(), answers.end());
  return answers;
}

Answers TextsOf(const Question& list) {
  Answers texts;
  for (const runtime::Value& text : list.items()) {
    texts.push_back(WithoutNumbers(std::string(text.AsString())));
  }
  return Sorted(std::move(texts));
}

void AddMessages(const field::ErrorList& errors, Answers& messages) {
  for (const field::Error& error : errors) messages.push_back(error.Message());
}

void JudgeCheck(const Question& question, const Environment& environment) {
  const auto schema = codec::SchemaFromOpenApi(question["schema"]);
  REQUIRE(schema.ok());
  const RuleErrors found =
      CheckRules(*schema, field::Path(std::string(kSchemaPath)), RuleEnvironments{environment});
  Answers ours;
  AddMessages(found.texts, ours);
  AddMessages(found.expressions, ours);
  AddMessages(found.total, ours);
  CHECK(Sorted(ours) == TextsOf(question["go"]["errors"]));
}

void JudgeRun(const Question& question, const Environment& environment) {
  const auto schema = codec::SchemaFromOpenApi(question["schema"]);
  REQUIRE(schema.ok());
  const RuleSet rules = RuleSet::Compile(*schema, question["resource"].AsBool(), environment);
  const runtime::Value old = question["old"];
  Budget budget;
  if (!question["budget"].is_null()) budget.remaining = question["budget"].AsInt();
  if (!question["per_call"].is_null()) {
    budget.per_call = static_cast<std::uint64_t>(question["per_call"].AsInt());
  }
  Scratch scratch;
  const RuleFindings found = rules.Validate({.object = question["object"],
                                             .old = old.is_null() ? nullptr : &old,
                                             .ratchet = question["ratchet"].AsBool()},
                                            budget, scratch, Context::Background());
  Answers ours;
  AddMessages(found.errors, ours);
  CHECK(Sorted(ours) == TextsOf(question["go"]["errors"]));
  CHECK(Sorted(found.warnings) == TextsOf(question["go"]["warnings"]));
  CHECK(found.remaining == question["go"]["remaining"].AsInt());
}

TEST_CASE("cel: rules answer word for word as Go", "[cel][rules]") {
  const Environment environment = Environment::Kubernetes({1, 36}, Mode::kStored);
  std::ifstream lines("tests/cel/data/rule_answers.jsonl");
  REQUIRE(lines.good());
  int runs = 0;
  int checks = 0;
  for (std::string line; std::getline(lines, line);) {
    runtime::Arena arena;
    const Question question = codec::ParseJson(line, arena).value();
    if (question["schema"].is_null()) continue;
    INFO(line);
    if (question["check"].AsBool()) {
      ++checks;
      JudgeCheck(question, environment);
    } else {
      ++runs;
      JudgeRun(question, environment);
    }
  }
  CHECK(runs == 198);
  CHECK(checks == 212);
}

}  // namespace
}  // namespace apiserver::cel
