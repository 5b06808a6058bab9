// pkg/apis/admissionregistration/validation/validation_test.go, the tables of webhook
// configurations; pkg/apis/admissionregistration/v1/defaults_test.go.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy/cel_policies.h"
#include "apiserver/codec/codec.h"
#include "apiserver/codec/json.h"
#include "apiserver/groups/admissionregistration.h"
#include "groups/admissionregistration/validation.h"

using namespace apiserver;  // NOLINT: tests only.

namespace {

namespace group = groups::admissionregistration;

std::unique_ptr<admission::policy::ExpressionChecker> NewChecker() {
  static const auto new_checker = admission::policy::NewPolicyChecker();
  return new_checker();
}

runtime::KindPtr ConfigurationKind(bool mutating) {
  static const std::vector<runtime::KindPtr> kinds = group::Kinds().value();
  for (const auto& kind : kinds) {
    if (kind->kind().starts_with("Mutating") == mutating) return kind;
  }
  return nullptr;
}

// Not defaulted, as upstream's tables.
std::unique_ptr<runtime::Object> Configuration(const std::string& webhooks, bool mutating = false) {
  auto object = std::make_unique<runtime::Object>(ConfigurationKind(mutating), "v1");
  const std::string json = R"({"metadata":{"name":"config"},"webhooks":[)" + webhooks + "]}";
  runtime::Arena arena;
  const auto parsed = codec::ParseJson(json, arena);
  INFO(json);
  REQUIRE(parsed.ok());
  object->SetRoot(runtime::Copy(*parsed, object->arena()));
  return object;
}

constexpr char kUrl[] = R"("clientConfig":{"url":"https://example.com"})";
constexpr char kNone[] = R"("sideEffects":"None")";
constexpr char kUnknown[] = R"("sideEffects":"Unknown")";
constexpr char kBeta[] = R"("admissionReviewVersions":["v1beta1"])";

// {"name":"webhook.k8s.io", …} of the parts.
std::string Hook(const std::vector<std::string>& parts,
                 const std::string& name = "webhook.k8s.io") {
  std::string text = R"({"name":")" + name + "\"";
  for (const std::string& part : parts) text += "," + part;
  return text + "}";
}
std::string Rule(const std::string& operations, const std::string& resources) {
  return R"("rules":[{"operations":[)" + operations +
         R"(],"apiGroups":["a"],"apiVersions":["a"],"resources":[)" + resources + "]}]";
}
std::string Url(const std::string& url) { return R"("clientConfig":{"url":")" + url + "\"}"; }
std::string Service(const std::string& path, int port = 443) {
  return R"("clientConfig":{"service":{"namespace":"ns","name":"n","path":")" + path +
         R"(","port":)" + std::to_string(port) + "}}";
}

struct WebhookCase {
  const char* name;
  std::string webhooks;
  std::string error;  // Contained in what is wrong; empty: nothing is.
};

std::vector<WebhookCase> NameAndRuleCases() {
  const std::string no_rules = R"("rules":[{"operations":[],"apiGroups":["a"],"apiVersions":["a"],)"
                               R"("resources":["a"]},{"apiGroups":["a"],"apiVersions":["a"],)"
                               R"("resources":["a"]}])";
  return {
      {"AdmissionReviewVersions are required", Hook({kUrl, kUnknown}),
       "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"},
      {"should fail on bad AdmissionReviewVersion value",
       Hook({kUrl, R"("admissionReviewVersions":["0v"])"}),
       "Invalid value: \"0v\": a DNS-1035 label"},
      {"should pass on valid AdmissionReviewVersion", Hook({kUrl, kNone, kBeta}), ""},
      {"should pass on mix of accepted and unaccepted AdmissionReviewVersion",
       Hook({kUrl, kNone, R"("admissionReviewVersions":["v1beta1","invalid-version"])"}), ""},
      {"should fail on invalid AdmissionReviewVersion",
       Hook({kUrl, R"("admissionReviewVersions":["invalidVersion"])"}),
       "Invalid value: [\"invalidVersion\"]"},
      {"should fail on duplicate AdmissionReviewVersion",
       Hook({kUrl, R"("admissionReviewVersions":["v1beta1","v1beta1"])"}),
       "Invalid value: \"v1beta1\": duplicate version"},
      {"all Webhooks must have a fully qualified name",
       Hook({kUrl, kNone, kBeta}) + "," + Hook({kUrl, kNone, kBeta}, "k8s.io") + "," +
           Hook({kUrl, kNone, kBeta}, ""),
       "webhooks[1].name: Invalid value: \"k8s.io\": should be a domain with at least three "
       "segments separated by dots, webhooks[2].name: Required value"},
      {"Webhooks must have unique names when created",
       Hook({kUrl, kUnknown, kBeta}) + "," + Hook({kUrl, kUnknown, kBeta}),
       "webhooks[1].name: Duplicate value: \"webhook.k8s.io\""},
      {"Operations must not be empty or nil", Hook({no_rules, kBeta}),
       "webhooks[0].rules[0].operations: Required value, webhooks[0].rules[1].operations: Required "
       "value"},
      {"\"\" is NOT a valid operation", Hook({Rule(R"("CREATE","")", R"("a")"), kBeta}),
       "Unsupported value: \"\""},
      {"operation must be either create/update/delete/connect",
       Hook({Rule(R"("PATCH")", R"("a")"), kBeta}), "Unsupported value: \"PATCH\""},
      {"wildcard operation cannot be mixed with other strings",
       Hook({Rule(R"("CREATE","*")", R"("a")"), kBeta}),
       "if '*' is present, must not specify other operations"},
      {"resource \"*\" can co-exist with resources that have subresources",
       Hook({kUrl, kNone, kBeta, Rule(R"("CREATE")", R"("*","a/b","a/*","*/b")")}), ""},
      {"resource \"*\" cannot mix with resources that don't have subresources",
       Hook({kUrl, kUnknown, kBeta, Rule(R"("CREATE")", R"("*","a")")}),
       "if '*' is present, must not specify other resources without subresources"},
      {"resource a/* cannot mix with a/x",
       Hook({kUrl, kUnknown, kBeta, Rule(R"("CREATE")", R"("a/*","a/x")")}),
       "webhooks[0].rules[0].resources[1]: Invalid value: \"a/x\": if 'a/*' is present, must not "
       "specify a/x"},
      {"resource a/* can mix with a",
       Hook({kUrl, kNone, kBeta, Rule(R"("CREATE")", R"("a/*","a")")}), ""},
      {"resource */a cannot mix with x/a",
       Hook({kUrl, kUnknown, kBeta, Rule(R"("CREATE")", R"("*/a","x/a")")}),
       "webhooks[0].rules[0].resources[1]: Invalid value: \"x/a\": if '*/a' is present, must not "
       "specify x/a"}};
}

std::vector<WebhookCase> PolicyAndPlaceCases() {
  return {
      {"resource */* cannot mix with other resources",
       Hook({kUrl, kUnknown, kBeta, Rule(R"("CREATE")", R"("*/*","a")")}),
       "webhooks[0].rules[0].resources: Invalid value: [\"*/*\",\"a\"]: if '*/*' is present, must "
       "not specify other resources"},
      {"FailurePolicy can only be \"Ignore\" or \"Fail\"",
       Hook({kUrl, kUnknown, kBeta, R"("failurePolicy":"other")"}),
       "webhooks[0].failurePolicy: Unsupported value: \"other\": supported values: \"Fail\", "
       "\"Ignore\""},
      {"MatchPolicy can only be \"Exact\" or \"Equivalent\"",
       Hook({kUrl, kNone, kBeta, R"("matchPolicy":"other")"}),
       "webhooks[0].matchPolicy: Unsupported value: \"other\": supported values: \"Equivalent\", "
       "\"Exact\""},
      {"SideEffects are required", Hook({kUrl, kBeta}),
       "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun"},
      {"SideEffects can only be \"None\" or \"NoneOnDryRun\" when created",
       Hook({kUrl, kBeta, R"("sideEffects":"other")"}),
       "webhooks[0].sideEffects: Unsupported value: \"other\": supported values: \"None\", "
       "\"NoneOnDryRun\""},
      {"both service and URL missing", Hook({R"("clientConfig":{})", kBeta}), "exactly one of"},
      {"both service and URL provided",
       Hook({R"("clientConfig":{"service":{"namespace":"ns","name":"n","port":443},)"
             R"("url":"example.com/k8s/webhook"})",
             kBeta}),
       "[0].clientConfig: Required value: exactly one of url or service is required"},
      {"blank URL", Hook({Url(""), kBeta}),
       "[0].clientConfig.url: Invalid value: \"\": host must be specified"},
      {"wrong scheme", Hook({Url("http://example.com"), kBeta}), "https"},
      {"missing host", Hook({Url("https:///fancy/webhook"), kBeta}), "host must be specified"},
      {"fragment", Hook({Url("https://example.com/#bookmark"), kBeta}),
       "\"bookmark\": fragments are not permitted"},
      {"query", Hook({Url("https://example.com?arg=value"), kBeta}),
       "\"arg=value\": query parameters are not permitted"},
      {"user", Hook({Url("https://harry.potter@example.com/"), kBeta}),
       "\"harry.potter\": user information is not permitted"},
      {"just totally wrong",
       Hook({Url("arg#backwards=thisis?html.index/port:host//:https"), kBeta}),
       "host must be specified"}};
}

std::vector<WebhookCase> ServiceAndTimeoutCases() {
  return {
      {"path must start with slash", Hook({Service("foo/"), kBeta}),
       "clientConfig.service.path: Invalid value: \"foo/\": must start with a '/'"},
      {"path accepts slash", Hook({Service("/"), kNone, kBeta}), ""},
      {"path accepts no trailing slash", Hook({Service("/foo"), kNone, kBeta}), ""},
      {"path fails //", Hook({Service("//"), kNone, kBeta}),
       "clientConfig.service.path: Invalid value: \"//\": segment[0] may not be empty"},
      {"path no empty step", Hook({Service("/foo//bar/"), kUnknown, kBeta}),
       "clientConfig.service.path: Invalid value: \"/foo//bar/\": segment[1] may not be empty"},
      {"path no empty step 2", Hook({Service("/foo/bar//"), kUnknown, kBeta}),
       "clientConfig.service.path: Invalid value: \"/foo/bar//\": segment[2] may not be empty"},
      {"path no non-subdomain", Hook({Service("/apis/foo.bar/v1alpha1/--bad"), kUnknown, kBeta}),
       "clientConfig.service.path: Invalid value: \"/apis/foo.bar/v1alpha1/--bad\": segment[3]: a "
       "lowercase RFC 1123 subdomain"},
      {"invalid port 0", Hook({Service("https://apis/foo.bar", 0), kUnknown, kBeta}),
       "Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive"},
      {"invalid port >65535", Hook({Service("https://apis/foo.bar", 65536), kUnknown, kBeta}),
       "Invalid value: 65536: port is not valid: must be between 1 and 65535, inclusive"},
      {"timeout seconds cannot be greater than 30",
       Hook({kUrl, kUnknown, kBeta, R"("timeoutSeconds":31)"}),
       "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 "
       "seconds"},
      {"timeout seconds cannot be smaller than 1",
       Hook({kUrl, kUnknown, kBeta, R"("timeoutSeconds":0)"}),
       "webhooks[0].timeoutSeconds: Invalid value: 0: the timeout value must be between 1 and 30 "
       "seconds"},
      {"timeout seconds must be positive", Hook({kUrl, kUnknown, kBeta, R"("timeoutSeconds":-1)"}),
       "webhooks[0].timeoutSeconds: Invalid value: -1: the timeout value must be between 1 and 30 "
       "seconds"},
      {"valid timeout seconds",
       Hook({kUrl, kNone, kBeta, R"("timeoutSeconds":1)"}) + "," +
           Hook({kUrl, kNone, kBeta, R"("timeoutSeconds":15)"}, "webhook2.k8s.io") + "," +
           Hook({kUrl, kNone, kBeta, R"("timeoutSeconds":30)"}, "webhook3.k8s.io"),
       ""},
      {"invalid scope",
       Hook({kUrl, kNone, kBeta,
             R"("rules":[{"operations":["*"],"apiGroups":["a"],"apiVersions":["a"],)"
             R"("resources":["a"],"scope":"Galaxy"}])"}),
       "webhooks[0].rules[0].scope: Unsupported value: \"Galaxy\": supported values: \"*\", "
       "\"Cluster\", \"Namespaced\""},
      {"invalid selector",
       Hook({kUrl, kNone, kBeta,
             R"("objectSelector":{"matchExpressions":[{"key":"a","operator":"In",)"
             R"("values":["-"]}]})"}),
       "webhooks[0].objectSelector.matchExpressions[0].values[0]: Invalid value: \"-\""},
      {"match conditions",
       Hook({kUrl, kNone, kBeta,
             R"("matchConditions":[{"name":"a","expression":" true "},)"
             R"({"name":"a","expression":"1"},{"name":"","expression":" "}])"}),
       "[webhooks[0].matchConditions[1].expression: Invalid value: \"1\": must evaluate to bool "
       "but "
       "got int, webhooks[0].matchConditions[1].name: Duplicate value: \"a\", "
       "webhooks[0].matchConditions[2].expression: Required value, "
       "webhooks[0].matchConditions[2].name: Required value]"},
      {"a match condition of policies",
       Hook({kUrl, kNone, kBeta, R"("matchConditions":[{"name":"a","expression":"params.x"}])"}),
       "webhooks[0].matchConditions[0].expression: Invalid value: \"params.x\": compilation "
       "failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | "
       "params.x\n | ^"}};
}

std::vector<WebhookCase> Cases() {
  std::vector<WebhookCase> all = NameAndRuleCases();
  for (auto* more : {&PolicyAndPlaceCases, &ServiceAndTimeoutCases}) {
    for (WebhookCase& test : more()) all.push_back(std::move(test));
  }
  return all;
}

std::string Wrong(const field::ErrorList& errors) {
  return errors.empty() ? "" : errors.Aggregate();
}

}  // namespace

// TestValidateValidatingWebhookConfiguration, TestValidateMutatingWebhookConfiguration
TEST_CASE("admissionregistration: configurations are validated as upstream", "[groups]") {
  for (const bool mutating : {false, true}) {
    for (const WebhookCase& test : Cases()) {
      INFO(test.name << (mutating ? ", mutating" : ""));
      const std::string wrong = Wrong(
          group::ValidateConfiguration(*Configuration(test.webhooks, mutating), *NewChecker()));
      CHECK(wrong.empty() == test.error.empty());
      CHECK(wrong.find(test.error) != std::string::npos);
    }
  }
  const std::string odd = Hook({kUrl, kNone, kBeta, R"("reinvocationPolicy":"other")"});
  CHECK(
      Wrong(group::ValidateConfiguration(*Configuration(odd, /*mutating=*/true), *NewChecker())) ==
      "webhooks[0].reinvocationPolicy: Unsupported value: \"other\": supported values: "
      "\"IfNeeded\", \"Never\"");
}

// TestValidateValidatingWebhookConfigurationUpdate, TestValidateMutatingWebhookConfigurationUpdate
TEST_CASE("admissionregistration: what was wrong before may stay so", "[groups]") {
  const auto versions = [](const std::string& list) {
    return R"("admissionReviewVersions":[)" + list + "]";
  };
  struct Change {
    const char* name;
    std::string old;
    std::string now;
    std::string error;
  };
  const Change cases[] = {
      {"should pass on valid new AdmissionReviewVersion", Hook({kUrl, kUnknown, kBeta}),
       Hook({kUrl, kUnknown, kBeta}), ""},
      {"should pass on invalid AdmissionReviewVersion with invalid previous versions",
       Hook({kUrl, kUnknown, versions(R"("invalid-v0")")}),
       Hook({kUrl, kUnknown, versions(R"("invalid-v1","invalid-v2")")}), ""},
      {"should fail on invalid AdmissionReviewVersion with valid previous versions",
       Hook({kUrl, kUnknown, versions(R"("v1beta1","invalid-v1")")}),
       Hook({kUrl, kUnknown, versions(R"("invalid-v1")")}), "Invalid value: [\"invalid-v1\"]"},
      {"should fail on invalid AdmissionReviewVersion with missing previous versions",
       Hook({kUrl, kUnknown}), Hook({kUrl, kUnknown, versions(R"("invalid-v1")")}),
       "Invalid value: [\"invalid-v1\"]"},
      {"Webhooks can have duplicate names when old config has duplicate names",
       Hook({kUrl, kUnknown, kBeta}) + "," + Hook({kUrl, kUnknown, kBeta}),
       Hook({kUrl, kUnknown, kBeta}) + "," + Hook({kUrl, kUnknown, kBeta}), ""},
      {"Webhooks can't have duplicate names when old config doesn't",
       Hook({kUrl, kUnknown, kBeta}) + "," + Hook({kUrl, kUnknown, kBeta}, "webhook2.k8s.io"),
       Hook({kUrl, kUnknown, kBeta}) + "," + Hook({kUrl, kUnknown, kBeta}),
       "webhooks[1].name: Duplicate value: \"webhook.k8s.io\""},
      {"Webhooks can have side effects when old config has side effects",
       Hook({kUrl, kUnknown, kBeta}), Hook({kUrl, R"("sideEffects":"Some")", kBeta}), ""},
      {"Webhooks can't have side effects when old config doesn't", Hook({kUrl, kNone, kBeta}),
       Hook({kUrl, kUnknown, kBeta}),
       "webhooks[0].sideEffects: Unsupported value: \"Unknown\": supported values: \"None\", "
       "\"NoneOnDryRun\""},
      {"match conditions that did not change are not compiled again",
       Hook({kUrl, kNone, kBeta, R"("matchConditions":[{"name":"a","expression":"gone"}])"}),
       Hook({kUrl, kUnknown, kBeta, R"("matchConditions":[{"name":"a","expression":"gone"}])"}),
       "webhooks[0].sideEffects: Unsupported value"},
      {"match conditions that did not change do no harm",
       Hook({kUrl, kNone, kBeta, R"("matchConditions":[{"name":"a","expression":"gone"}])"}),
       Hook({kUrl, kNone, kBeta, R"("matchConditions":[{"name":"a","expression":"gone"}])"}), ""},
      {"match conditions that change are compiled",
       Hook({kUrl, kNone, kBeta, R"("matchConditions":[{"name":"a","expression":"gone"}])"}),
       Hook({kUrl, kNone, kBeta, R"("matchConditions":[{"name":"b","expression":"gone"}])"}),
       "undeclared reference to 'gone' (in container '')"}};
  for (const bool mutating : {false, true}) {
    for (const Change& test : cases) {
      INFO(test.name << (mutating ? ", mutating" : ""));
      const std::string wrong = Wrong(group::ValidateConfigurationUpdate(
          *Configuration(test.now, mutating), *Configuration(test.old, mutating), *NewChecker()));
      CHECK(wrong.empty() == test.error.empty());
      CHECK(wrong.find(test.error) != std::string::npos);
    }
  }
}

// defaults_test.go TestDefaultAdmissionWebhook
TEST_CASE("admissionregistration: what is not said has the defaults of v1", "[groups]") {
  const auto defaulted = [](bool mutating) {
    const std::string kind =
        mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration";
    const auto body = std::make_shared<const std::string>(
        R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":")" + kind +
        R"(","webhooks":[{"name":"a","clientConfig":{"service":{"namespace":"n","name":"s"}},)"
        R"("rules":[{"operations":["*"]}]}]})");
    const auto decoded =
        codec::DecodeObject(codec::MediaType::kJson, body, {ConfigurationKind(mutating), "v1"});
    REQUIRE(decoded.ok());
    std::string json;
    codec::AppendJson((*decoded->object)["webhooks"], json);
    return json;
  };
  const std::string common =
      R"([{"name":"a","clientConfig":{"service":{"namespace":"n","name":"s","port":443}},)"
      R"("rules":[{"operations":["*"],"scope":"*"}],"failurePolicy":"Fail",)"
      R"("matchPolicy":"Equivalent","namespaceSelector":{},"objectSelector":{},)"
      R"("sideEffects":null,"timeoutSeconds":10,"admissionReviewVersions":null)";
  CHECK(defaulted(false) == common + "}]");
  CHECK(defaulted(true) == common + R"(,"reinvocationPolicy":"Never"}])");
}
