#include "authn/expressions.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/authn/config.h"
#include "apiserver/codec/json.h"
#include "authn/oidc_fixture.h"
#include "contains.h"
#include "json_lines.h"

namespace apiserver::inline v0::authn {
namespace {

using apiserver::testing::JsonLines;
using runtime::Value;

// The rows of one of upstream's tests.
std::vector<Value> RowsOf(const JsonLines& file, std::string_view table) {
  std::vector<Value> rows;
  for (const Value line : file.rows()) {
    if (line["table"].AsString() == table) rows.push_back(line["row"]);
  }
  REQUIRE_FALSE(rows.empty());
  return rows;
}

// Compiles the expression of an ExpressionAccessor and returns the errors.
std::string Compiled(Value accessor, ExpressionInput input) {
  const std::string_view type = accessor["$type"].AsString();
  const ExpressionResult result =
      type == "ClaimValidationCondition" || type == "UserValidationCondition"
          ? ExpressionResult::kBool
          : ExpressionResult::kAny;
  field::ErrorList errors;
  const std::string text = JsonLines::Text(accessor, "Expression");
  const auto made = ExpressionCompiler().Compile(input, result, text, field::Path("e"), errors);
  CHECK(made.has_value() == errors.empty());
  return errors.Aggregate();
}

void CheckCompiling(const JsonLines& file, std::string_view table, ExpressionInput input) {
  for (const Value row : RowsOf(file, table)) {
    INFO(row["name"].AsString());
    REQUIRE(row["expressionAccessors"].size() == 1);
    const std::string errors = Compiled(row["expressionAccessors"].at(0), input);
    const std::string wanted = JsonLines::Text(row, "wantErr");
    if (wanted.empty()) {
      CHECK(errors.empty());
    } else {
      CHECK(apiserver::testing::Contains(errors, wanted));
    }
  }
}

PrefixedClaimOrExpression PrefixedOf(Value mapping) {
  PrefixedClaimOrExpression made{.claim = JsonLines::Text(mapping, "Claim"),
                                 .expression = JsonLines::Text(mapping, "Expression")};
  if (mapping.Find("Prefix") != nullptr) made.prefix = JsonLines::Text(mapping, "Prefix");
  return made;
}

// Reads a ClaimMappings with Go's names of fields.
ClaimMappings MappingsOf(Value in) {
  ClaimMappings mappings{
      .username = PrefixedOf(in["Username"]),
      .groups = PrefixedOf(in["Groups"]),
      .uid = {JsonLines::Text(in["UID"], "Claim"), JsonLines::Text(in["UID"], "Expression")}};
  for (const Value extra : in["Extra"].items()) {
    mappings.extra.push_back(
        {JsonLines::Text(extra, "Key"), JsonLines::Text(extra, "ValueExpression")});
  }
  return mappings;
}

// An issuer for which only a part of the configuration is judged.
JwtAuthenticator Judged() {
  return {.issuer = {.url = "https://issuer", .audiences = {"a"}},
          .claim_mappings = {.username = {.claim = "sub", .prefix = ""}}};
}

// Validates a configuration of one issuer and compares the errors with upstream's, whose paths
// begin with "issuer".
void CheckValid(const JwtAuthenticator& one, Value row) {
  INFO(row["name"].AsString());
  std::string wanted = JsonLines::Text(row, "want");
  for (std::size_t at = 0; (at = wanted.find("issuer.", at)) != std::string::npos; at += 7) {
    wanted.replace(at, 7, "jwt[0].");
  }
  CHECK(ValidateAuthenticationConfiguration({.jwt = {one}}).Aggregate() == wanted);
}

// Rows of a server whose feature gate is off; ours has none.
bool IsGated(Value row) { return !row["structuredAuthnFeatureEnabled"].AsBool(); }

// Reads the part of a JwtAuthenticator that a question has, with the names of the file.
JwtAuthenticator JwtOf(Value jwt) {
  JwtAuthenticator made = Rules();
  const Value mappings = jwt["claimMappings"];
  const auto prefixed = [](Value mapping) {
    PrefixedClaimOrExpression read{.claim = JsonLines::Text(mapping, "claim"),
                                   .expression = JsonLines::Text(mapping, "expression")};
    if (mapping.Find("prefix") != nullptr) read.prefix = JsonLines::Text(mapping, "prefix");
    return read;
  };
  made.claim_mappings = {.username = prefixed(mappings["username"]),
                         .groups = prefixed(mappings["groups"]),
                         .uid = {JsonLines::Text(mappings["uid"], "claim"),
                                 JsonLines::Text(mappings["uid"], "expression")}};
  for (const Value extra : mappings["extra"].items()) {
    made.claim_mappings.extra.push_back(
        {JsonLines::Text(extra, "key"), JsonLines::Text(extra, "valueExpression")});
  }
  for (const Value rule : jwt["claimValidationRules"].items()) {
    made.claim_validation_rules.push_back({.claim = JsonLines::Text(rule, "claim"),
                                           .required_value = JsonLines::Text(rule, "requiredValue"),
                                           .expression = JsonLines::Text(rule, "expression"),
                                           .message = JsonLines::Text(rule, "message")});
  }
  for (const Value rule : jwt["userValidationRules"].items()) {
    made.user_validation_rules.push_back(
        {JsonLines::Text(rule, "expression"), JsonLines::Text(rule, "message")});
  }
  return made;
}

void AppendTexts(std::string_view name, const std::vector<std::string>& texts, std::string& out) {
  if (texts.empty()) return;
  out.append(" ").append(name).append("=");
  for (const std::string& text : texts) out.append("[").append(text).append("]");
}

std::string Print(const auth::UserInfo& user) {
  std::string text = "user " + user.name + (user.uid.empty() ? "" : " uid=" + user.uid);
  AppendTexts("groups", user.groups, text);
  for (const auto& [key, values] : user.extra) AppendTexts(key, values, text);
  return text;
}

// Prints Go's answer: "invalid: …", "error: …" or the user.
std::string GoAnswer(Value go) {
  if (go.Find("invalid") != nullptr) return "invalid: " + JsonLines::Text(go, "invalid");
  if (go.Find("error") != nullptr) return "error: " + JsonLines::Text(go, "error");
  auth::UserInfo user{.name = JsonLines::Text(go, "user"),
                      .uid = JsonLines::Text(go, "uid"),
                      .groups = JsonLines::Texts(go["groups"])};
  for (const runtime::Member& member : go["extra"].members()) {
    user.extra[std::string(member.key)] = JsonLines::Texts(member.value);
  }
  return Print(user);
}

std::string OurAnswer(Value ask) {
  OidcFixture fixture;
  const JwtAuthenticator rules = JwtOf(ask["jwt"]);
  fixture.http->AnswerNext(Discovery(rules.issuer.url));
  fixture.http->AnswerNext(Keys());
  const auto made = NewOidc({rules}, fixture.options);
  if (!made.ok()) return "invalid: " + std::string(made.status().message());
  std::string claims;
  codec::AppendJson(ask["claims"], claims);
  const Answer answer = (*made)->AuthenticateToken(Context::Background(), Token(claims));
  if (!answer.ok()) {
    CHECK(answer.status().reason() == Reason::kUnauthorized);
    return "error: " + std::string(answer.status().message());
  }
  REQUIRE(answer->has_value());
  return Print(*(*answer)->user);
}

// A question that has another answer here, and why.
struct Deviation {
  std::string_view expression;
  std::string_view ours;
};
constexpr Deviation kDeviations[] = {
    // Go's `claims` is an object of its own type that only looks up names; here it is a map.
    {"'sub' in claims ? 'yes' : 'no'", "user yes"},
    {"size(claims) > 0 ? 'yes' : 'no'", "user yes"},
    {"claims.size() > 0 ? 'yes' : 'no'", "user yes"},
    {"type(claims) == map ? 'yes' : 'no'", "user yes"},
    {"dyn(claims) == {} ? 'yes' : 'no'", "user no"},
    {"claims[dyn(1)]",
     "error: oidc: error evaluating username claim expression: expression 'claims[dyn(1)]' "
     "resulted "
     "in error: no such key: 1"},
    // Go refuses the list of a function that makes it of Go strings.
    {"claims.roles.split(',')", "user jane groups=[a][b]"},
    {"claims.roles.findAll('[0-9]')", "user jane groups=[1][2]"},
    // Go does not unescape names in what a loop yields, and counts no escaped names.
    {"dyn(claims.roles).map(r, r.n__dot__a)", "user jane groups=[r1]"},
    {"string(size(claims.m)) + claims.m.a__dot__b", "user 3x"},
    {"claims.m == {'a.b': 'x'} && claims.m.a__dot__b == 'x' ? 'same' : 'other'", "user other"},
};

// Returns the answer that a question shall have.
std::string Expected(Value line) {
  const Value mappings = line["ask"]["jwt"]["claimMappings"];
  for (const Deviation& deviation : kDeviations) {
    for (const std::string_view part : {"username", "groups"}) {
      if (mappings[part]["expression"].AsString() == deviation.expression) {
        return std::string(deviation.ours);
      }
    }
  }
  return GoAnswer(line["go"]);
}

}  // namespace

// TestCompileClaimsExpression, TestCompileUserExpression and those of their errors
TEST_CASE("authn: expressions compile as upstream's do", "[authn]") {
  const JsonLines file("tests/cel/data/authentication.jsonl");
  CheckCompiling(file, "TestCompileClaimsExpression", ExpressionInput::kClaims);
  CheckCompiling(file, "TestCompileClaimsExpressionError", ExpressionInput::kClaims);
  CheckCompiling(file, "TestCompileUserExpressionError", ExpressionInput::kUser);
  for (const Value row : RowsOf(file, "TestCompileUserExpression")) {
    CHECK(Compiled(row["expressionAccessors"].at(0), ExpressionInput::kUser).empty());
  }
}

// TestValidateClaimMappings, TestValidateClaimValidationRules, TestValidateUserValidationRules
TEST_CASE("authn: expressions of a configuration are judged in upstream's words", "[authn]") {
  const JsonLines file("tests/cel/data/configuration.jsonl");
  for (const Value row : RowsOf(file, "TestValidateClaimMappings")) {
    if (IsGated(row)) continue;
    JwtAuthenticator one = Judged();
    one.claim_mappings = MappingsOf(row["in"]);
    if (row["usesEmailVerifiedClaim"].AsBool()) {
      one.claim_validation_rules = {{.expression = "claims.email_verified == true"}};
    }
    CheckValid(one, row);
  }
  for (const Value row : RowsOf(file, "TestValidateClaimValidationRules")) {
    if (IsGated(row)) continue;
    JwtAuthenticator one = Judged();
    for (const Value rule : row["in"].items()) {
      one.claim_validation_rules.push_back(
          {.claim = JsonLines::Text(rule, "Claim"),
           .required_value = JsonLines::Text(rule, "RequiredValue"),
           .expression = JsonLines::Text(rule, "Expression"),
           .message = JsonLines::Text(rule, "Message")});
    }
    CheckValid(one, row);
  }
  for (const Value row : RowsOf(file, "TestValidateUserValidationRules")) {
    if (IsGated(row)) continue;
    JwtAuthenticator one = Judged();
    for (const Value rule : row["in"].items()) {
      one.user_validation_rules.push_back(
          {JsonLines::Text(rule, "Expression"), JsonLines::Text(rule, "Message")});
    }
    CheckValid(one, row);
  }
}

// TestToken, and more questions
TEST_CASE("authn: expressions make of a token's claims what Go makes of them", "[authn]") {
  const JsonLines file("tests/cel/data/tokens.jsonl");
  for (const Value line : file.rows()) {
    std::string question;
    codec::AppendJson(line["ask"], question);
    INFO(question);
    CHECK(OurAnswer(line["ask"]) == Expected(line));
  }
}

TEST_CASE("authn: the documented configuration is valid", "[authn]") {
  const std::string text = apiserver::testing::YamlBlock("docs/configuration.md", 0);
  CHECK(ParseAuthenticationConfiguration(text).status() == Status());
}

// Row 69 of docs/security.md.
TEST_CASE("authn: an expression ends with its request", "[authn]") {
  JwtAuthenticator rules = Rules();
  rules.claim_mappings.groups = {
      .expression = "dyn(claims.l).all(a, dyn(claims.l).all(b, a == b || true)) ? 'a' : 'b'"};
  OidcFixture fixture;
  fixture.Make(rules);
  std::string list = "\"l\":[0";
  for (int i = 1; i < 200; ++i) list += "," + std::to_string(i);
  const std::string token = Token(Claims(kJane + "," + list + "]"));
  REQUIRE(fixture.Ask(token).ok());

  const Context ended = Context::Child(Context::Background());
  ended.Cancel({Reason::kTimeout, "the client has gone"});

  CHECK(fixture.oidc->AuthenticateToken(ended, token).status().message() ==
        "oidc: error evaluating group claim expression: expression '" +
            rules.claim_mappings.groups.expression + "' resulted in error: operation interrupted");
}

TEST_CASE("authn: the syntax of an expression tells the claims that it selects", "[authn]") {
  CHECK(ReadSyntax("claims.email").selects_email);
  CHECK(ReadSyntax(".claims.email").selects_email);
  CHECK(ReadSyntax("claims.?email.orValue('')").selects_email);
  CHECK(ReadSyntax("[1].all(x, has(claims.email))").selects_email);
  CHECK_FALSE(ReadSyntax("claims['email']").selects_email);
  CHECK_FALSE(ReadSyntax("claims.a.claims.email").selects_email);
  CHECK_FALSE(ReadSyntax("user.email").selects_email);
  CHECK_FALSE(ReadSyntax("claims.email_verified").selects_email);
  CHECK(ReadSyntax("claims.email_verified").selects_email_verified);

  std::vector<EscapedName> names;
  AddEscapedNames(ReadSyntax("claims.a__dot__b.x[?'c__dash__d'].?e__f__g + claims.h__i + 'j__k'"),
                  names);
  AddEscapedNames(ReadSyntax("claims.a__dot__b"), names);
  REQUIRE(names.size() == 3);
  CHECK(names[0].escaped == "a__dot__b");
  CHECK(names[0].property == "a.b");
  CHECK(names[1].property == "c-d");
  CHECK(names[2].escaped == "e__f__g");
  CHECK_FALSE(names[2].property.has_value());
}

}  // namespace apiserver::inline v0::authn
