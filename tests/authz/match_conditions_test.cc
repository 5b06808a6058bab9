#include "authz/webhook/match_conditions.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/authz/config.h"
#include "apiserver/codec/json.h"
#include "contains.h"
#include "json_lines.h"

namespace apiserver::inline v0::authz {
namespace {

using apiserver::testing::JsonLines;
using runtime::Value;

struct Compiled {
  std::unique_ptr<const MatchConditions> conditions;
  std::string errors;
};

Compiled Compile(const std::vector<std::string>& expressions) {
  field::ErrorList errors;
  auto conditions = MatchConditions::Compile(expressions, field::Path("matchConditions"), errors);
  return {std::move(conditions), errors.Aggregate()};
}

// Writes requirements as the text of a selector.
std::string SelectorText(Value requirements) {
  std::string text;
  for (const Value each : requirements.items()) {
    const std::string key = JsonLines::Text(each, "key");
    const std::string op = JsonLines::Text(each, "operator");
    std::string values;
    for (const std::string& value : JsonLines::Texts(each["values"])) {
      values += (values.empty() ? "" : ",") + value;
    }
    if (!text.empty()) text += ',';
    if (op == "Exists") {
      text += key;
    } else if (op == "DoesNotExist") {
      text += "!" + key;
    } else if (each["values"].size() > 1) {
      text += key + (op == "In" ? " in (" : " notin (") + values + ")";
    } else {
      text += key + (op == "In" ? "=" : "!=") + values;
    }
  }
  return text;
}

// A SubjectAccessReviewSpec and the attributes of a request that is reviewed with it.
struct Request {
  explicit Request(Value spec) {
    auth::UserInfo user{.name = JsonLines::Text(spec, "user"),
                        .uid = JsonLines::Text(spec, "uid"),
                        .groups = JsonLines::Texts(spec["groups"])};
    for (const runtime::Member& member : spec["extra"].members()) {
      user.extra[std::string(member.key)] = JsonLines::Texts(member.value);
    }
    attributes.user = std::make_shared<const auth::UserInfo>(std::move(user));
    const Value resource = spec["resourceAttributes"];
    attributes.resource_request = resource.is_map();
    const Value asked = attributes.resource_request ? resource : spec["nonResourceAttributes"];
    attributes.verb = asked["verb"].AsString();
    attributes.path = asked["path"].AsString();
    attributes.group = asked["group"].AsString();
    attributes.version = asked["version"].AsString();
    attributes.resource = asked["resource"].AsString();
    attributes.subresource = asked["subresource"].AsString();
    attributes.namespace_ = asked["namespace"].AsString();
    attributes.name = asked["name"].AsString();
    fields = SelectorText(resource["fieldSelector"]["requirements"]);
    labels = SelectorText(resource["labelSelector"]["requirements"]);
    attributes.field_selector = fields;
    attributes.label_selector = labels;
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  std::string fields;
  std::string labels;
  auth::Attributes attributes;
};

std::string Answered(const Result<bool>& matches) {
  if (!matches.ok()) return "error: " + std::string(matches.status().message());
  return *matches ? "match" : "no match";
}

std::string OurAnswer(Value ask) {
  const Compiled compiled = Compile(JsonLines::Texts(ask["conditions"]));
  if (!compiled.errors.empty()) return "invalid: " + compiled.errors;
  const Request request(ask["spec"]);
  // Twice: the second uses the memory of the first.
  const std::string first =
      Answered(compiled.conditions->Match(Context::Background(), request.attributes));
  CHECK(Answered(compiled.conditions->Match(Context::Background(), request.attributes)) == first);
  return first;
}

std::string GoAnswer(Value go) {
  if (go.Find("invalid") != nullptr) return "invalid: " + JsonLines::Text(go, "invalid");
  if (go.Find("error") != nullptr) return "error: " + JsonLines::Text(go, "error");
  return go["match"].AsBool() ? "match" : "no match";
}

auth::Attributes GetOf(std::string_view path) {
  static const auto user = std::make_shared<const auth::UserInfo>(auth::UserInfo{.name = "u"});
  return {.user = user, .verb = "get", .path = path};
}

}  // namespace

// TestCompileCELExpression of authorization/cel
TEST_CASE("authz: a match condition compiles as upstream's do", "[authz]") {
  const JsonLines file("tests/cel/data/authorization.jsonl");
  for (const Value line : file.rows()) {
    const Value row = line["row"];
    INFO(row["name"].AsString());
    const std::string wanted = JsonLines::Text(row, "expectedError");
    // AuthorizeWithSelectors cannot be switched off in 1.36.
    const bool gated = wanted.find("Selector'") != std::string::npos;
    const std::string errors = Compile({JsonLines::Text(row, "expression")}).errors;
    if (wanted.empty() || gated) {
      CHECK(errors.empty());
    } else {
      CHECK(apiserver::testing::Contains(errors, wanted));
    }
  }
}

// TestValidateAndCompileMatchConditions
TEST_CASE("authz: match conditions are judged in upstream's words", "[authz]") {
  const JsonLines file("tests/cel/data/configuration.jsonl");
  int judged = 0;
  for (const Value line : file.rows()) {
    if (line["table"].AsString() != "TestValidateAndCompileMatchConditions") continue;
    const Value row = line["row"];
    INFO(row["name"].AsString());
    std::vector<std::string> expressions;
    for (const Value condition : row["matchConditions"].items()) {
      expressions.push_back(JsonLines::Text(condition, "Expression"));
    }
    const Compiled compiled = Compile(expressions);
    CHECK(compiled.errors == JsonLines::Text(row, "expectedErr"));
    CHECK((compiled.conditions != nullptr) == (compiled.errors.empty() && !expressions.empty()));
    ++judged;
  }
  CHECK(judged == 6);
}

// TestV1WebhookMatchConditions, and more questions
TEST_CASE("authz: match conditions answer as Go's do", "[authz]") {
  const JsonLines file("tests/cel/data/reviews.jsonl");
  for (const Value line : file.rows()) {
    std::string question;
    codec::AppendJson(line["ask"], question);
    INFO(question);
    CHECK(OurAnswer(line["ask"]) == GoAnswer(line["go"]));
  }
}

TEST_CASE("authz: the documented match conditions are valid", "[authz]") {
  const auto files = NewMemoryFileSystem();
  REQUIRE(files->MakeDirectories("/etc", 0755).ok());
  REQUIRE(files->WriteAtomically("/etc/tenants.kubeconfig", "", 0600).ok());
  const std::string text = apiserver::testing::YamlBlock("docs/configuration.md", 1);
  CHECK(ParseAuthorizationConfiguration(text, *files).status() == Status());
}

TEST_CASE("authz: a match condition sees text that is no UTF-8 as replaced", "[authz]") {
  const auto matches = [](const std::string& condition) {
    return Answered(
        Compile({condition}).conditions->Match(Context::Background(), GetOf("/\xff/a")));
  };
  CHECK(matches(R"(request.nonResourceAttributes.path == '/\uFFFD/a')") == "match");
  CHECK(matches("request.nonResourceAttributes.path.size() == 4") == "match");
}

// Row 69 of docs/security.md.
TEST_CASE("authz: a match condition ends with its request", "[authz]") {
  const std::string condition =
      "request.groups.all(a, request.groups.all(b, a == b || request.user != 'v'))";
  auth::UserInfo user{.name = "u"};
  for (int i = 0; i < 200; ++i) user.groups.push_back("g" + std::to_string(i));
  auth::Attributes asked = GetOf("/");
  asked.user = std::make_shared<const auth::UserInfo>(user);
  const Compiled compiled = Compile({condition});
  CHECK(Answered(compiled.conditions->Match(Context::Background(), asked)) == "match");

  const Context ended = Context::Child(Context::Background());
  ended.Cancel({Reason::kTimeout, "the client has gone"});

  CHECK(Answered(compiled.conditions->Match(ended, asked)) ==
        "error: cel evaluation error: expression '" + condition +
            "' resulted in error: operation interrupted");
}

}  // namespace apiserver::inline v0::authz
