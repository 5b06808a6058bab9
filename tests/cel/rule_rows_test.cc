#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/cel/rules.h"
#include "apiserver/codec/json.h"
#include "apiserver/codec/schema_loader.h"
#include "cel/rule_rows.h"

// Upstream's tables of rules in schemas, each row through RuleSet.
namespace apiserver::cel {
namespace {

using apiserver::testing::ForEachRow;
using runtime::SchemaPtr;
using Json = runtime::Value;

const Environment& Stored() {
  static const Environment environment = Environment::Kubernetes({1, 36}, Mode::kStored);
  return environment;
}

constexpr Budget kNoLimit = {.remaining = std::numeric_limits<std::int64_t>::max()};

RuleFindings Validate(const RuleSet& rules, const RuleSubject& subject,
                      const Budget& budget = kNoLimit) {
  Scratch scratch;
  return rules.Validate(subject, budget, scratch, Context::Background());
}

std::vector<std::string> Texts(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& text : list.items()) texts.emplace_back(text.AsString());
  return texts;
}

std::vector<std::string> Messages(const field::ErrorList& errors) {
  std::vector<std::string> texts;
  for (const field::Error& error : errors) texts.push_back(error.Message());
  return texts;
}

// Checks that each error holds one of the texts, and each text is held by one.
void CheckHeld(const field::ErrorList& errors, std::vector<std::string> expected) {
  const std::vector<std::string> messages = Messages(errors);
  CAPTURE(messages, expected);
  for (const std::string& message : messages) {
    const auto held = std::find_if(expected.begin(), expected.end(), [&](const std::string& text) {
      return message.find(text) != std::string::npos;
    });
    CHECK(held != expected.end());
    if (held != expected.end()) expected.erase(held);
  }
  CHECK(expected.empty());
}

// Kubernetes refuses such schemas in CustomResourceDefinitions, and so does the loader; the table
// goes around that check.
bool HasNestedRules(const Json& row) {
  // The rules of these two are lost: upstream's dump of a schema drops them.
  const std::string_view name = row["name"].AsString();
  if (name == "allOf.additionalProperties") return true;
  if (name == "properties.allOf.additionalProperties.allOf.properties") return true;
  const auto loaded = codec::SchemaFromOpenApi(row["schema"]["$schema"]);
  return !loaded.ok() &&
         loaded.status().message().find("must be empty to be structural") != std::string::npos;
}

SchemaPtr WithOptionalOldSelf(const SchemaPtr& schema) {
  runtime::SchemaParts parts(*schema);
  for (runtime::ValidationRule& rule : parts.rules) rule.optional_old_self = true;
  return runtime::MakeSchema(parts);
}

std::string PathOf(const Json& path) {
  if (!path.is_map()) return "";
  const std::string parent = PathOf(path["parent"]);
  if (const std::string_view key = path["index"].AsString(); !key.empty()) {
    return field::Path(parent).Key(key).text();
  }
  return field::Path(parent).Child(path["name"].AsString()).text();
}

TEST_CASE("cel: rules at all levels of a schema find what upstream's find", "[cel][rules]") {
  int nested = 0;
  const int rows =
      ForEachRow("crd_walks", "TestValidationExpressionsAtSchemaLevels", [&](const Json& row) {
        INFO(row["name"].AsString());
        if (HasNestedRules(row)) {
          ++nested;
          return;
        }
        const RuleSet rules = RuleSet::Compile(
            codec::SchemaFromOpenApi(row["schema"]["$schema"]).value(), true, Stored());
        const Json old = row["oldObj"];
        const RuleFindings findings = Validate(rules, {.object = row["obj"],
                                                       .old = old.is_null() ? nullptr : &old,
                                                       .path = field::Path("root")});
        for (const field::Error& error : findings.errors) {
          CHECK(error.type == field::Error::Type::kInvalid);
        }
        CheckHeld(findings.errors, Texts(row["errors"]));
      });
  CHECK(rows == 25);
  CHECK(nested == 9);
}

TEST_CASE("cel: messageExpressions yield and cost what upstream's do", "[cel][rules]") {
  const int rows = ForEachRow("crd_walks", "TestMessageExpression", [](const Json& row) {
    INFO(row["name"].AsString());
    const SchemaPtr schema =
        runtime::StructBuilder("")
            .Field("str", runtime::StringSchema())
            .Rule({.rule = "false",
                   .message = std::string(row["message"].AsString()),
                   .message_expression = std::string(row["messageExpression"].AsString())})
            .Build();
    Budget budget = {.remaining = row["costBudget"].AsInt()};
    if (row["perCallLimit"].AsInt() != 0) {
      budget.per_call = static_cast<std::uint64_t>(row["perCallLimit"].AsInt());
    }
    runtime::Arena arena;
    const Json object = codec::ParseJson(R"({"str":"a string"})", arena).value();
    const RuleFindings findings = Validate(RuleSet::Compile(schema, false, Stored()),
                                           {.object = object, .path = field::Path("root")}, budget);
    CheckHeld(findings.errors, {std::string(row["expectedValidationErr"].AsString())});
    const std::int64_t remaining = row["expectedRemainingBudget"].AsInt();
    if (remaining != 0) CHECK(findings.remaining == remaining);
  });
  CHECK(rows == 12);
}

TEST_CASE("cel: reasons and field paths are upstream's", "[cel][rules]") {
  const int rows = ForEachRow("crd_walks", "TestReasonAndFldPath", [](const Json& row) {
    INFO(row["name"].AsString());
    const SchemaPtr schema = codec::SchemaFromOpenApi(row["schema"]["$schema"]).value();
    const RuleFindings findings =
        Validate(RuleSet::Compile(schema, true, Stored()),
                 {.object = row["obj"], .path = field::Path("root")}, Budget{});
    std::vector<std::string> found;
    for (const field::Error& error : findings.errors) {
      found.push_back(std::string(error.CauseReason()) + " " + error.field);
    }
    std::vector<std::string> expected;
    for (const Json& error : row["errors"].items()) {
      expected.push_back(std::string(error["Type"].AsString()) + " " +
                         std::string(error["Field"].AsString()));
    }
    CHECK(found == expected);
  });
  CHECK(rows == 4);
}

TEST_CASE("cel: field paths of rules are read as upstream's", "[cel][rules]") {
  const int rows = ForEachRow("crd_walks", "TestValidateFieldPath", [](const Json& row) {
    INFO(row["fieldPath"].AsString());
    const SchemaPtr schema = codec::SchemaFromOpenApi(row["schema"]["$schema"]).value();
    const auto path = ParseFieldPath(row["fieldPath"].AsString(), *schema);
    const std::string_view error = row["errDetail"].AsString();
    CHECK((path.ok() ? std::string_view() : path.status().message()) == error);
    const Json expected = row["validFieldPath"];
    if (!expected.is_null() && path.ok()) CHECK(path->text() == PathOf(expected));
  });
  CHECK(rows == 28);
}

TEST_CASE("cel: unchanged values are ratcheted as upstream's", "[cel][rules]") {
  const int rows = ForEachRow("crd_walks", "TestRatcheting", [](const Json& row) {
    INFO(row["name"].AsString());
    const SchemaPtr schema = codec::SchemaFromOpenApi(row["schema"]["$schema"]).value();
    Budget budget;
    if (!row["runtimeCostBudget"].is_null()) budget.remaining = row["runtimeCostBudget"].AsInt();
    const Json old = row["oldObj"];
    const RuleFindings findings = Validate(
        RuleSet::Compile(schema, false, Stored()),
        {.object = row["newObj"], .old = &old, .path = field::Path("root"), .ratchet = true},
        budget);
    CheckHeld(findings.errors, Texts(row["errors"]));
    std::vector<std::string> warnings = findings.warnings;
    std::vector<std::string> expected = Texts(row["warnings"]);
    std::sort(warnings.begin(), warnings.end());
    std::sort(expected.begin(), expected.end());
    CHECK(warnings == expected);
  });
  CHECK(rows == 16);
}

// Judges a row whose rules have optionalOldSelf, with the old object that `old` is.
void JudgeOptional(const Json& row, const Json& old, const std::vector<std::string>& errors) {
  INFO(row["name"].AsString());
  const SchemaPtr schema =
      WithOptionalOldSelf(codec::SchemaFromOpenApi(row["schema"]["$schema"]).value());
  const RuleFindings findings = Validate(
      RuleSet::Compile(schema, false, Stored()),
      {.object = row["obj"], .old = old.is_null() ? nullptr : &old, .path = field::Path("root")});
  CheckHeld(findings.errors, errors);
}

TEST_CASE("cel: oldSelf is an optional where a rule says so", "[cel][rules]") {
  CHECK(ForEachRow("crd_walks", "TestOptionalOldSelf", [](const Json& row) {
          JudgeOptional(row, row["oldObj"], Texts(row["errors"]));
        }) == 11);
  CHECK(ForEachRow("crd_walks", "TestOptionalOldSelfCheckForNull", [](const Json& row) {
          JudgeOptional(row, {}, {});
          JudgeOptional(row, row["oldObj"], {});
        }) == 10);
  CHECK(ForEachRow("crd_walks", "TestOptionalOldSelfIsOptionalType", [](const Json& row) {
          JudgeOptional(row, row["obj"], Texts(row["errors"]));
        }) == 5);
}

// Writes a schema with the types that upstream's leaves out.
void AppendTyped(const Json& schema, std::string& out) {
  const bool list = schema.Find("items") != nullptr;
  const bool object =
      schema.Find("properties") != nullptr || schema.Find("additionalProperties") != nullptr;
  out += "{";
  if (schema["type"].is_null()) {
    out += list ? R"("type":"array")" : object ? R"("type":"object")" : R"("type":"string")";
  }
  for (const runtime::Member& member : schema.members()) {
    if (out.back() != '{') out += ",";
    codec::AppendJsonString(member.key, out);
    out += ":";
    if (member.key == "items" || member.key == "additionalProperties") {
      AppendTyped(member.value, out);
    } else if (member.key == "properties") {
      out += "{";
      for (const runtime::Member& property : member.value.members()) {
        if (out.back() != '{') out += ",";
        codec::AppendJsonString(property.key, out);
        out += ":";
        AppendTyped(property.value, out);
      }
      out += "}";
    } else {
      codec::AppendJson(member.value, out);
    }
  }
  out += "}";
}

// Finds where the rule at a place reports its error.
std::string Reported(const Json& path) {
  field::Path where("root");
  for (const Json& step : path.items()) {
    where = step.is_string() ? where.Child(step.AsString())
                             : where.Index(static_cast<std::size_t>(step.AsInt()));
  }
  return where.text();
}

TEST_CASE("cel: old values are found as upstream's", "[cel][rules]") {
  const int rows = ForEachRow("correlation", "TestCorrelation", [](const Json& row) {
    INFO(row["Name"].AsString());
    std::string text;
    AppendTyped(row["Schema"]["Schema"]["$schema"], text);
    const SchemaPtr plain = codec::SchemaFromText(text).value();
    std::string place;
    for (const Json& step : row["KeyPath"].items()) {
      if (!place.empty()) place += "/";
      place += step.is_string() ? step.AsString() : "#";
    }
    const Json old = row["RootOldObject"];
    const RuleSubject subject = {
        .object = row["RootObject"], .old = &old, .path = field::Path("root"), .ratchet = true};
    // A rule with oldSelf runs where there is an old value, whatever becomes of it.
    const auto reported = [&](std::string rule) {
      const SchemaPtr schema =
          apiserver::testing::WithRuleAt(plain, place, {.rule = std::move(rule), .message = ""});
      const RuleFindings findings = Validate(RuleSet::Compile(schema, false, Stored()), subject);
      const auto here = [&](const field::Error& error) {
        std::string where = error.field;
        // Keys of maps stand in brackets.
        std::replace(where.begin(), where.end(), '[', '.');
        std::string wanted = Reported(row["KeyPath"]);
        std::replace(wanted.begin(), wanted.end(), '[', '.');
        std::erase(where, ']');
        std::erase(wanted, ']');
        return where == wanted;
      };
      return std::any_of(findings.errors.begin(), findings.errors.end(), here);
    };
    const bool correlates = reported("oldSelf != oldSelf");
    CHECK(correlates == (row.Find("OldValue") != nullptr));
    if (!correlates) return;
    // A rule without oldSelf is an error unless the value is as it was.
    const bool same = row["ExpectEqual"].AsBool() || row["OldValue"] == row["NewValue"];
    CHECK(reported("false") == !same);
  });
  CHECK(rows == 23);
}

}  // namespace
}  // namespace apiserver::cel
