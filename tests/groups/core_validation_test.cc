// What Secrets and ServiceAccounts may say, and what a server makes of them before that.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/codec/json.h"
#include "codec/text.h"
#include "groups/core/kinds.h"
#include "groups/core/strategy.h"
#include "groups/core/validation.h"
#include "groups/validation_rows.h"
#include "text/base64.h"

namespace {

namespace core = apiserver::groups::core;
using apiserver::Context;
using apiserver::codec::testing::Json;
using apiserver::field::ErrorList;
using apiserver::runtime::Object;
using apiserver::testing::Findings;
using apiserver::testing::Lines;

std::unique_ptr<Object> ParseCore(const std::string& kind_name, const std::string& json) {
  return apiserver::testing::ParseRow(core::ServedKinds(), kind_name, json);
}

std::string Base64(std::string_view bytes) {
  std::string text;
  apiserver::text::AppendBase64(bytes, text);
  return text;
}

const std::string kMeta = R"("metadata":{"name":"foo","namespace":"bar"})";

std::string SecretOfType(const std::string& type, const std::string& data) {
  return "{" + kMeta + R"(,"type":")" + type + R"(","data":{)" + data + "}}";
}

std::string Datum(const std::string& key, std::string_view value) {
  return "\"" + key + R"(":")" + Base64(value) + "\"";
}

struct CoreRow {
  std::string what;
  std::string object;
  Lines findings = {};
};

void CheckSecrets(const std::vector<CoreRow>& rows) {
  for (const CoreRow& row : rows) {
    INFO(row.what);
    CHECK(Findings(core::ValidateSecret(*ParseCore("Secret", row.object))) == row.findings);
  }
}

}  // namespace

// validation_test.go TestValidateSecret.
TEST_CASE("groups: secrets are refused as a Go server refuses them", "[groups]") {
  const std::string data = R"("data":{"data-1":"YmFy"})";
  const auto named = [&data](const std::string& metadata) {
    return R"({"metadata":{)" + metadata + "}," + data + "}";
  };
  const auto keyed = [](const std::string& key) {
    return "{" + kMeta + R"(,"data":{")" + key + R"(":"YmFy"}})";
  };
  const std::string token = "kubernetes.io/service-account-token";
  const Lines key = {"FieldValueInvalid data[..]"};
  CheckSecrets({
      {"valid", named(R"("name":"foo","namespace":"bar")")},
      {"empty name", named(R"("namespace":"bar")"), {"FieldValueRequired metadata.name"}},
      {"invalid name",
       named(R"("name":"NoUppercaseOrSpecialCharsLike=Equals","namespace":"bar")"),
       {"FieldValueInvalid metadata.name"}},
      {"empty namespace", named(R"("name":"foo")"), {"FieldValueRequired metadata.namespace"}},
      {"invalid namespace",
       named(R"("name":"foo","namespace":"NoUppercaseOrSpecialCharsLike=Equals")"),
       {"FieldValueInvalid metadata.namespace"}},
      {"over max size",
       SecretOfType("Opaque", Datum("over", std::string((1 << 20) + 1, 'x'))),
       {"FieldValueTooLong data"}},
      {"just max size", SecretOfType("Opaque", Datum("over", std::string(1 << 20, 'x')))},
      {"invalid key", keyed("a*b"), {"FieldValueInvalid data[a*b]"}},
      {"leading dot key", keyed(".key")},
      {"dot key", keyed("."), {"FieldValueInvalid data[.]"}},
      {"double dot key", keyed(".."), key},
      {"service account token without the account's name",
       SecretOfType(token, ""),
       {"FieldValueRequired metadata.annotations[kubernetes.io/service-account.name]"}},
      {"service account token", R"({"metadata":{"name":"foo","namespace":"bar","annotations":{)"
                                R"("kubernetes.io/service-account.name":"foo"}},"type":")" +
                                    token + "\"}"},
  });
}

// validation_test.go TestValidateDockerConfigSecret, TestValidateBasicAuthSecret,
// TestValidateSSHAuthSecret; and tls.
TEST_CASE("groups: secrets of known types hold what their type says", "[groups]") {
  for (const std::string name : {"dockercfg", "dockerconfigjson"}) {
    const std::string type = "kubernetes.io/" + name;
    const std::string field = "data[." + name + "]";
    CheckSecrets({
        {"valid " + name, SecretOfType(type, Datum("." + name, R"({"auths":{}})"))},
        {"missing " + name, SecretOfType(type, ""), {"FieldValueRequired " + field}},
        {"empty " + name,
         SecretOfType(type, Datum("." + name, "")),
         {"FieldValueInvalid " + field}},
        {"invalid " + name,
         SecretOfType(type, Datum("." + name, "bad")),
         {"FieldValueInvalid " + field}},
    });
  }
  const std::string basic = "kubernetes.io/basic-auth";
  const std::string ssh = "kubernetes.io/ssh-auth";
  const std::string tls = "kubernetes.io/tls";
  CheckSecrets({
      {"valid", SecretOfType(basic, Datum("username", "me") + "," + Datum("password", "x"))},
      {"missing username", SecretOfType(basic, Datum("password", "x"))},
      {"missing password", SecretOfType(basic, Datum("username", "me"))},
      {"empty username", SecretOfType(basic, Datum("username", ""))},
      {"neither",
       SecretOfType(basic, ""),
       {"FieldValueRequired data[username]", "FieldValueRequired data[password]"}},
      {"valid", SecretOfType(ssh, Datum("ssh-privatekey", "key"))},
      {"missing key", SecretOfType(ssh, ""), {"FieldValueRequired data[ssh-privatekey]"}},
      {"empty key",
       SecretOfType(ssh, Datum("ssh-privatekey", "")),
       {"FieldValueRequired data[ssh-privatekey]"}},
      {"valid", SecretOfType(tls, Datum("tls.crt", "") + "," + Datum("tls.key", ""))},
      {"neither",
       SecretOfType(tls, ""),
       {"FieldValueRequired data[tls.crt]", "FieldValueRequired data[tls.key]"}},
  });
}

TEST_CASE("groups: what a secret holds is not in what is said of it", "[groups]") {
  const auto errors = core::ValidateSecret(*ParseCore(
      "Secret", SecretOfType("kubernetes.io/dockercfg", Datum(".dockercfg", "pa55word"))));

  REQUIRE(errors.size() == 1);
  CHECK(errors[0].Message().find("pa55word") == std::string::npos);
  CHECK(errors[0].Message().starts_with(
      R"(data[.dockercfg]: Invalid value: "<secret contents redacted>": )"));
}

// validation_test.go TestValidateSecretUpdate, its rows on `immutable`.
TEST_CASE("groups: a secret keeps its type, and an immutable one its data", "[groups]") {
  const auto secret = [](const std::string& more, const std::string& type = "Opaque") {
    return ParseCore("Secret",
                     R"({"metadata":{"name":"foo","namespace":"bar","resourceVersion":"1"},)"
                     R"("type":")" +
                         type + "\"" + more + "}");
  };
  const auto findings = [](const auto& now, const auto& before) {
    return Findings(core::ValidateSecretUpdate(*now, *before));
  };
  const auto a = [](const std::string& value) { return R"(,"data":{)" + Datum("a", value) + "}"; };
  const std::string fixed = R"(,"immutable":true)";

  CHECK(findings(secret(a("2")), secret(a("1"))).empty());
  CHECK(findings(secret("", "Other"), secret("")) == Lines{"FieldValueInvalid type"});
  CHECK(findings(secret(a("1") + fixed), secret(a("1"))).empty());
  CHECK(findings(secret(a("1") + fixed), secret(a("1") + fixed)).empty());
  CHECK(findings(secret(a("2") + fixed), secret(a("1") + fixed)) ==
        Lines{"FieldValueForbidden data"});
  CHECK(findings(secret(fixed), secret(a("1") + fixed)) == Lines{"FieldValueForbidden data"});
  CHECK(findings(secret(a("1")), secret(a("1") + fixed)) == Lines{"FieldValueForbidden immutable"});
  CHECK(findings(secret(a("1") + R"(,"immutable":false)"), secret(a("1") + fixed)) ==
        Lines{"FieldValueForbidden immutable"});
  CHECK(findings(secret(a("2") + R"(,"immutable":false)"), secret(a("1") + fixed)) ==
        Lines{"FieldValueForbidden immutable", "FieldValueForbidden data"});
}

TEST_CASE("groups: a secret's text goes to its data, and wins over it", "[groups]") {
  const auto secret = ParseCore("Secret", "{" + kMeta +
                                              R"(,"data":{"b":"b2xk","c":"Yw=="},)"
                                              R"("stringData":{"a":"new","b":"new"}})");

  CHECK(Json((*secret)["data"]) == R"({"a":"bmV3","b":"bmV3","c":"Yw=="})");
  CHECK((*secret)["stringData"].is_null());
  CHECK((*secret)["type"].AsString() == "Opaque");
}

TEST_CASE("groups: a service account refers to secrets by their names alone", "[groups]") {
  const auto strategy = core::NewServiceAccountStrategy();
  const auto account =
      ParseCore("ServiceAccount", "{" + kMeta +
                                      R"(,"secrets":[{"kind":"Secret","name":"s","uid":"1"}],)"
                                      R"("imagePullSecrets":[{"name":"pull"}]})");

  strategy->PrepareForCreate(Context::Background(), *account);

  CHECK(Json((*account)["secrets"]) == R"([{"name":"s"}])");
  CHECK(Json((*account)["imagePullSecrets"]) == R"([{"name":"pull"}])");
  CHECK(strategy->Validate(Context::Background(), *account).empty());
  CHECK(Findings(core::ValidateServiceAccount(
            *ParseCore("ServiceAccount", R"({"metadata":{"name":"A","namespace":"bar"}})"))) ==
        Lines{"FieldValueInvalid metadata.name"});
}

TEST_CASE("groups: an annotation that is going away is warned about once", "[groups]") {
  const auto strategy = core::NewServiceAccountStrategy();
  const Context ctx = Context::Background();
  const auto plain = ParseCore("ServiceAccount", "{" + kMeta + "}");
  const auto with =
      ParseCore("ServiceAccount", R"({"metadata":{"name":"foo","namespace":"bar","annotations":{)"
                                  R"("kubernetes.io/enforce-mountable-secrets":"true"}}})");

  CHECK(strategy->WarningsOnCreate(ctx, *plain).empty());
  CHECK(strategy->WarningsOnCreate(ctx, *with) ==
        Lines{"metadata.annotations[kubernetes.io/enforce-mountable-secrets]: deprecated in "
              "v1.32+; prefer separate namespaces to isolate access to mounted secrets"});
  CHECK(strategy->WarningsOnUpdate(ctx, *with, *plain).size() == 1);
  CHECK(strategy->WarningsOnUpdate(ctx, *with, *with).empty());
}
