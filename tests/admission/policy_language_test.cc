// The tables of upstream for expressions of policies, with Go's answers: pkg/admission/plugin/cel
// (compile_test.go, composition_test.go, condition_test.go), plugin/policy/mutating/patch.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy/cel_environment.h"
#include "admission/policy/cel_expressions.h"
#include "admission/policy/cel_mutations.h"
#include "apiserver/base/file_system.h"
#include "apiserver/codec/codec.h"
#include "apiserver/groups/apps.h"
#include "apiserver/runtime/settle.h"
#include "cel/fixed_authorizer.h"
#include "policy_fixture.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.

namespace {

using policy::Composition;
using policy::Declarations;
using policy::ExpressionUse;
using runtime::Value;

// Calls `check` for each line of a file of tests/cel/data but the first, which names its source.
void EachLine(const std::string& file, const std::function<void(const Value&)>& check) {
  const auto read = RealFileSystem().Read("tests/cel/data/" + file);
  REQUIRE(read.ok());
  std::string_view rest = *read;
  int lines = 0;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    runtime::Arena arena;
    const auto value = codec::ParseJson(line, arena);
    REQUIRE(value.ok());
    if ((*value)["origin"].is_null()) check(*value);
    ++lines;
  }
  REQUIRE(lines > 1);
}

// Calls `check` for each row of one table.
int EachRow(const std::string& file, std::string_view table,
            const std::function<void(const Value&)>& check) {
  int rows = 0;
  EachLine(file, [&](const Value& line) {
    if (line["table"].AsString() != table) return;
    ++rows;
    const Value row = line["row"];
    INFO(row["name"].AsString());
    check(row);
  });
  return rows;
}

std::shared_ptr<Composition> NewComposition(const Declarations& declarations) {
  return std::make_shared<Composition>(policy::SharedExpressionCompiler(), declarations);
}

// Evaluates one expression as one of a list.
policy::Activation::Result Evaluated1(const Composition& composition,
                                      policy::CompiledExpression compiled, const std::string& text,
                                      const policy::Variables& variables, std::int64_t& budget) {
  cel::Scratch scratch;
  policy::Activation activation(composition, variables, scratch);
  policy::Activation::Result result = activation.Evaluate(
      {.text = text, .compiled = std::move(compiled)}, Context::Background(), budget);
  // The value must not outlive the scratch; these tables have bools.
  if (!result.error && !result.out_of_budget) REQUIRE(result.value.is_bool());
  return result;
}

// Returns the Deployment of a table, as Go's typed object has it.
std::unique_ptr<runtime::Object> DeploymentOf(const Value& json) {
  static const runtime::KindPtr kind = [] {
    const std::vector<runtime::KindPtr> kinds = groups::apps::Kinds().value();
    for (const runtime::KindPtr& each : kinds) {
      if (each->kind() == "Deployment") return each;
    }
    return runtime::KindPtr();
  }();
  auto body = std::make_shared<std::string>();
  codec::AppendJson(json, *body);
  body->insert(1, R"("apiVersion":"apps/v1","kind":"Deployment",)");
  auto decoded = codec::DecodeObject(codec::MediaType::kJson, std::move(body),
                                     {.kind = kind, .version = "v1"});
  REQUIRE(decoded.ok());
  return std::move(decoded->object);
}

}  // namespace

TEST_CASE("policy language: expressions compile as upstream", "[admission]") {
  const auto compiled = [](const Value& row, const std::string& text) {
    const Declarations declarations{.params = row["hasParams"].AsBool(),
                                    .authorizer = row["hasAuthorizer"].AsBool()};
    return NewComposition(declarations)
        ->Compile(ExpressionUse::kValidation, text, cel::Mode::kNew, declarations);
  };
  CHECK(
      EachRow("policy_cases.jsonl", "TestCompileValidatingPolicyExpression", [&](const Value& row) {
        // A function that only that test's environment has.
        if (!row["envType"].is_null()) return;
        for (const Value& text : row["expressions"].items()) {
          INFO(text.AsString());
          CHECK(compiled(row, std::string(text.AsString())).error == "");
        }
        for (const runtime::Member& wrong : row["errorExpressions"].members()) {
          INFO(wrong.key);
          CHECK(Contains(compiled(row, std::string(wrong.key)).error,
                         std::string(wrong.value.AsString())));
        }
      }) == 16);
}

TEST_CASE("policy language: conditions have Go's values, errors and costs", "[admission]") {
  int rows = 0;
  EachLine("policy.jsonl", [&](const Value& line) {
    const Value env = line["env"];
    // The library of this server is that of one version, and the answers of others are others'.
    if (env["version"].AsString() != "1.35") return;
    // A limit of one call that only that test sets.
    if (line["case"].AsString() == "test perCallLimit exceed") return;
    const Declarations declarations{.params = env["params"].AsBool(),
                                    .authorizer = env["authorizer"].AsBool()};
    const cel_test::FixedAuthorizer authorizer(
        cel_test::VerdictOf(line["values"]["authorizer"]["authorizer"]));
    const admission::Attributes attributes{
        .resource = {"", "v1", "endpoints"}, .namespace_ = "default", .name = "endpoints1"};
    const auto json = [&](const char* name) { return line["values"][name]["json"]; };
    const policy::Variables variables{.object = json("object"),
                                      .old_object = json("oldObject"),
                                      .request = json("request"),
                                      .params = json("params"),
                                      .namespace_object = json("namespaceObject"),
                                      .authorizer = declarations.authorizer ? &authorizer : nullptr,
                                      .attributes = &attributes};
    for (const Value& row : line["rows"].items()) {
      const std::string text(row["expr"].AsString());
      INFO(line["case"].AsString() << ": " << text);
      const Value go = row["go"];
      const auto composition = NewComposition(declarations);
      auto compiled =
          composition->Compile(ExpressionUse::kValidation, text, cel::Mode::kNew, declarations);
      ++rows;
      if (!go["issues"].is_null()) {
        CHECK(compiled.error == "compilation failed: " + std::string(go["issues"].AsString()));
        continue;
      }
      REQUIRE(compiled.error == "");
      std::int64_t budget = policy::kCostBudget;
      const auto result = Evaluated1(*composition, std::move(compiled), text, variables, budget);
      CHECK(policy::kCostBudget - budget == go["cost"].AsInt());
      if (!go["error"].is_null()) {
        CHECK(result.error.value_or("") == "expression '" + text + "' resulted in error: " +
                                               std::string(go["error"].AsString()));
      } else {
        REQUIRE(result.error.value_or("") == "");
        CHECK(result.value.AsBool() == go["value"]["bool"].AsBool());
      }
    }
  });
  CHECK(rows == 66);
}

TEST_CASE("policy language: the request is made once, when it is first read", "[admission]") {
  class Counting final : public policy::LateValue::Maker {
   public:
    int made = 0;

   private:
    Value Make() override {
      ++made;
      return Value::Map({});
    }
  };
  Counting request;
  Counting ns;
  const policy::Variables variables{.request = policy::LateValue(request),
                                    .namespace_object = policy::LateValue(ns)};
  const auto composition = NewComposition({});
  const auto holds = [&](const std::string& text) {
    std::int64_t budget = policy::kCostBudget;
    const auto result = Evaluated1(
        *composition, composition->Compile(ExpressionUse::kValidation, text, cel::Mode::kNew, {}),
        text, variables, budget);
    INFO(result.error.value_or(""));
    return !result.error && result.value.AsBool();
  };
  CHECK(holds("object == null"));
  CHECK(request.made + ns.made == 0);
  CHECK(holds("!has(request.name) && !has(request.operation)"));
  CHECK(holds("!has(request.name)"));
  CHECK((request.made == 1 && ns.made == 0));
  CHECK(holds("!has(namespaceObject.metadata)"));
  CHECK((request.made == 1 && ns.made == 1));
}

TEST_CASE("policy language: composited variables are lazy and typed", "[admission]") {
  CHECK(EachRow("policy_cases.jsonl", "TestCompositedPolicies", [](const Value& row) {
          const Declarations declarations{.variables = true};
          const auto composition = NewComposition(declarations);
          std::string failure;
          for (const Value& variable : row["variables"].items()) {
            failure += composition
                           ->Add(std::string(variable["name"].AsString()),
                                 variable["expression"].AsString(), cel::Mode::kNew)
                           .error;
          }
          const std::string text(row["expression"].AsString());
          auto compiled =
              composition->Compile(ExpressionUse::kValidation, text, cel::Mode::kNew, declarations);
          failure += compiled.error;
          std::int64_t budget = row["runtimeCostBudget"].AsInt(policy::kCostBudget);
          const Value object = row["attributes"]["object"]["json"];
          const auto result =
              Evaluated1(*composition, std::move(compiled), text, {.object = object}, budget);
          failure += result.error.value_or("");
          if (result.out_of_budget) {
            failure +=
                "validation failed due to running out of cost budget, no further validation "
                "rules will be run";
          }
          const bool fails = row["expectErr"].AsBool();
          INFO(failure);
          CHECK(failure.empty() != fails);
          if (fails) CHECK(Contains(failure, std::string(row["expectedErrorMessage"].AsString())));
          if (!fails) CHECK(result.value.AsBool() == row["expectedResult"].AsBool());
        }) == 11);
}

TEST_CASE("policy language: patches change objects as upstream", "[admission]") {
  const auto run = [](const Value& row, const policy::Mutation& mutation) {
    const auto object = DeploymentOf(row["object"]["json"]);
    std::unique_ptr<runtime::Object> old;
    if (!row["oldObject"].is_null()) old = DeploymentOf(row["oldObject"]["json"]);
    const policy::Variables variables{.object = object->root(),
                                      .old_object = old ? old->root() : Value()};
    auto changed = mutation.Apply(Context::Background(), variables, *object);
    if (!row["expectedErr"].is_null()) {
      REQUIRE_FALSE(changed.ok());
      CHECK(Contains(std::string(changed.status().message()),
                     std::string(row["expectedErr"].AsString())));
      return;
    }
    INFO(changed.status().message());
    REQUIRE(changed.ok());
    // As the plugin does after each mutation.
    if (*changed) REQUIRE(runtime::Settle(**changed, {}).ok());
    const runtime::Object& after = *changed ? **changed : *object;
    const auto expected = DeploymentOf(row["expectedResult"]["json"]);
    CHECK(JsonOf(after.root()) == JsonOf(expected->root()));
  };
  const Declarations declarations{.variables = true};
  CHECK(EachRow("policy_patch.jsonl", "TestJSONPatch", [&](const Value& row) {
          run(row, *policy::NewJSONPatchMutation(NewComposition(declarations),
                                                 std::string(row["expression"].AsString())));
        }) == 27);
  CHECK(EachRow("policy_patch.jsonl", "TestApplyConfiguration", [&](const Value& row) {
          run(row, *policy::NewApplyMutation(NewComposition(declarations),
                                             std::string(row["expression"].AsString())));
        }) == 12);
}
