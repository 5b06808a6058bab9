// Reading and judging an AuthorizationConfiguration.
#include "apiserver/authz/config.h"

#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace apiserver::inline v0::authz {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Of the files below /etc.
std::unique_ptr<FileSystem> Files() {
  auto files = NewMemoryFileSystem();
  REQUIRE(files->MakeDirectories("/etc/folder", 0755).ok());
  REQUIRE(files->WriteAtomically("/etc/kubeconfig", "", 0600).ok());
  return files;
}

WebhookConfiguration Webhook() {
  return {.timeout = seconds(5),
          .subject_access_review_version = "v1",
          .match_condition_subject_access_review_version = "v1",
          .failure_policy = "NoOpinion",
          .connection_info = {.type = "InClusterConfig"}};
}

std::string Validated(std::vector<AuthorizerConfiguration> authorizers, AuthorizerTypes types) {
  return ValidateAuthorizationConfiguration({std::move(authorizers)}, *Files(), types).Aggregate();
}

// Of one webhook that is otherwise right.
std::string Changed(const std::function<void(WebhookConfiguration&)>& change) {
  WebhookConfiguration webhook = Webhook();
  change(webhook);
  return Validated({{"Webhook", "default", webhook}}, {{"Webhook"}, {"Webhook"}});
}

// A change to a webhook that is right, and what is wrong then, below `webhook`.
struct Change {
  std::string name;
  std::function<void(WebhookConfiguration&)> change;
  std::string wrong;
};
void CheckChanges(const std::vector<Change>& changes) {
  for (const Change& each : changes) {
    INFO(each.name);
    const std::string path = each.wrong.empty() ? "" : "authorizers[0].webhook.";
    CHECK(Changed(each.change) == path + each.wrong);
  }
}

std::string Read(const std::string& rest) {
  const auto config = ParseAuthorizationConfiguration(
      "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\n" + rest,
      *Files());
  return std::string(config.status().message());
}

}  // namespace

// TestValidateAuthorizationConfiguration, the part about authorizers.
TEST_CASE("authz: a chain has authorizers of known types and distinct names", "[authz]") {
  struct Case {
    std::string name;
    std::vector<AuthorizerConfiguration> authorizers;
    std::vector<std::string> known;
    std::string wrong;
  };
  const std::vector<Case> cases = {
      {"atleast one authorizer should be defined",
       {},
       {},
       "authorizers: Required value: at least one authorization mode must be defined"},
      {"type and name are required if an authorizer is defined",
       {{}},
       {"Webhook"},
       "authorizers[0].type: Required value"},
      {"authorizer names should be of non-zero length",
       {{"Foo", ""}},
       {"Foo"},
       "authorizers[0].name: Required value"},
      {"authorizer names should be unique",
       {{"Foo", "foo"}, {"Bar", "foo"}},
       {"Foo", "Bar"},
       R"(authorizers[1].name: Duplicate value: "foo")"},
      {"authorizer names should be DNS1123 labels", {{"Foo", "myauthorizer"}}, {"Foo"}, ""},
      {"authorizer names should be DNS1123 subdomains",
       {{"Foo", "foo.example.domain"}},
       {"Foo"},
       ""},
      {"authorizer names should not be invalid DNS1123 labels or subdomains",
       {{"Foo", "FOO.example.domain"}},
       {"Foo"},
       R"(authorizers[0].name: Invalid value: "FOO.example.domain": authorizer name is invalid: )"
       "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
       "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex "
       "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*'"
       ")"},
      {"bare minimum configuration with Webhook",
       {{"Webhook", "default", Webhook()}},
       {"Webhook"},
       ""},
      {"bare minimum configuration with multiple webhooks",
       {{"Webhook", "default", Webhook()}, {"Webhook", "second-webhook", Webhook()}},
       {"Webhook"},
       ""},
      {"configuration with unknown types",
       {{"Foo", ""}},
       {"Webhook"},
       R"(authorizers[0].type: Unsupported value: "Foo": supported values: "Webhook")"},
      {"configuration with not repeatable types",
       {{"Foo", "foo-1"}, {"Foo", "foo-2"}},
       {"Foo"},
       R"(authorizers[1].type: Duplicate value: "Foo")"},
      {"when type=Webhook, webhook needs to be defined",
       {{"Webhook", "default"}},
       {"Webhook"},
       "authorizers[0].webhook: Required value: required when type=Webhook"},
      {"when type!=Webhook, webhooks needs to be nil",
       {{"Foo", "foo", WebhookConfiguration{}}},
       {"Foo"},
       R"(authorizers[0].webhook: Invalid value: "non-null": may only be specified when )"
       "type=Webhook"},
  };
  for (const Case& each : cases) {
    INFO(each.name);
    CHECK(Validated(each.authorizers, {each.known, {"Webhook"}}) == each.wrong);
  }
}

// TestValidateAuthorizationConfiguration, the part about one webhook.
TEST_CASE("authz: a webhook of a chain says how it is asked", "[authz]") {
  using Config = WebhookConfiguration;
  const std::vector<Change> cases = {
      {"timeout should be specified", [](Config& c) { c.timeout = {}; }, "timeout: Required value"},
      {"timeout shouldn't be zero", [](Config& c) { c.timeout = seconds(0); },
       "timeout: Required value"},
      {"timeout shouldn't be negative", [](Config& c) { c.timeout = -seconds(30); },
       R"(timeout: Invalid value: "-30s": must be > 0s and <= 30s)"},
      {"timeout shouldn't be greater than 30seconds", [](Config& c) { c.timeout = seconds(60); },
       R"(timeout: Invalid value: "1m0s": must be > 0s and <= 30s)"},
      {"authorizedTTL should be defined ", [](Config& c) { c.authorized_ttl = {}; },
       "authorizedTTL: Required value"},
      {"authorizedTTL shouldn't be negative", [](Config& c) { c.authorized_ttl = -seconds(30); },
       R"(authorizedTTL: Invalid value: "-30s": must be > 0s)"},
      {"unauthorizedTTL should be defined ", [](Config& c) { c.unauthorized_ttl = {}; },
       "unauthorizedTTL: Required value"},
      {"unauthorizedTTL shouldn't be negative",
       [](Config& c) { c.unauthorized_ttl = -seconds(30); },
       R"(unauthorizedTTL: Invalid value: "-30s": must be > 0s)"},
      {"SAR should be defined", [](Config& c) { c.subject_access_review_version = ""; },
       "subjectAccessReviewVersion: Required value"},
      {"SAR should be one of v1 and v1beta1",
       [](Config& c) { c.subject_access_review_version = "v2beta1"; },
       R"(subjectAccessReviewVersion: Unsupported value: "v2beta1": supported values: "v1", )"
       R"("v1beta1")"},
      {"MatchConditionSAR must not be anything other than v1",
       [](Config& c) { c.match_condition_subject_access_review_version = "v1beta1"; },
       R"(matchConditionSubjectAccessReviewVersion: Unsupported value: "v1beta1": supported )"
       R"(values: "v1")"},
      {"failurePolicy should be defined", [](Config& c) { c.failure_policy = ""; },
       "failurePolicy: Required value"},
      {"failurePolicy should be one of \"NoOpinion\" or \"Deny\"",
       [](Config& c) { c.failure_policy = "AlwaysAllow"; },
       R"(failurePolicy: Unsupported value: "AlwaysAllow": supported values: "NoOpinion", "Deny")"},
  };
  CheckChanges(cases);
}

// The same, of its connectionInfo.
TEST_CASE("authz: a webhook of a chain says where it is", "[authz]") {
  using Config = WebhookConfiguration;
  const auto to = [](std::string type, std::optional<std::string> file) {
    return [type, file](Config& webhook) { webhook.connection_info = {type, file}; };
  };
  const std::vector<Change> cases = {
      {"connectionInfo should be defined", to("", std::nullopt),
       "connectionInfo.type: Required value"},
      {"connectionInfo should be one of InClusterConfig or KubeConfigFile",
       to("ExternalClusterConfig", std::nullopt),
       R"(connectionInfo.type: Unsupported value: {"Type":"ExternalClusterConfig",)"
       R"("KubeConfigFile":null}: supported values: "InClusterConfig", "KubeConfigFile")"},
      {"if connectionInfo=InClusterConfig, then kubeConfigFile should be nil",
       to("InClusterConfig", ""),
       R"(connectionInfo.kubeConfigFile: Invalid value: "": can only be set when )"
       "type=KubeConfigFile"},
      {"if connectionInfo=KubeConfigFile, then KubeConfigFile should be defined",
       to("KubeConfigFile", std::nullopt), "connectionInfo.kubeConfigFile: Required value"},
      {"if connectionInfo=KubeConfigFile, then KubeConfigFile ... must be an absolute path",
       to("KubeConfigFile", "../some/relative/path/kubeconfig"),
       R"(connectionInfo.kubeConfigFile: Invalid value: "../some/relative/path/kubeconfig": must )"
       "be an absolute path"},
      {"if connectionInfo=KubeConfigFile, an existent file needs to be passed",
       to("KubeConfigFile", "/etc/kubeconfig"), ""},
      // Ours: the two that upstream has no case of.
      {"missing", to("KubeConfigFile", "/etc/missing"),
       R"(connectionInfo.kubeConfigFile: Invalid value: "/etc/missing": error loading file: there )"
       "is no such file"},
      {"folder", to("KubeConfigFile", "/etc/folder"),
       R"(connectionInfo.kubeConfigFile: Invalid value: "/etc/folder": must be a regular file)"},
  };
  CheckChanges(cases);
}

// TestValidateAuthorizationConfiguration: "bare minimum configuration with Webhook and
// MatchConditions", "MatchConditionSAR should be defined"; TestValidateAndCompileMatchConditions.
TEST_CASE("authz: match conditions of a webhook are compiled", "[authz]") {
  CHECK(Changed([](WebhookConfiguration& webhook) {
          webhook.match_conditions = {"has(request.resourceAttributes)", "request.user == 'admin'"};
        }) == "");
  CHECK(Changed([](WebhookConfiguration& webhook) {
          webhook.match_condition_subject_access_review_version = "";
          webhook.match_conditions = {"true"};
        }) ==
        "authorizers[0].webhook.matchConditionSubjectAccessReviewVersion: Required value: "
        "required if match conditions are specified");
  const std::string path = "authorizers[0].webhook.matchConditions";
  CHECK(Changed([](WebhookConfiguration& webhook) {
          webhook.match_conditions = {" ", "request.user", "true", "true"};
        }) == "[" + path + "[0].expression: Required value, " + path +
                  "[1].expression: Invalid value: \"request.user\": must evaluate to bool but got "
                  "string, " +
                  path + "[3].expression: Duplicate value: \"true\"]");
  CHECK(Changed([](WebhookConfiguration& webhook) {
          for (int i = 0; i < 65; ++i) webhook.match_conditions.push_back(std::to_string(i));
        }) == path + ": Too many: 65: must have at most 64 items");
  CHECK(Read("authorizers:\n- type: Webhook\n  name: a\n  webhook:\n    timeout: 3s\n"
             "    subjectAccessReviewVersion: v1\n    failurePolicy: Deny\n"
             "    matchConditionSubjectAccessReviewVersion: v1\n"
             "    connectionInfo: {type: KubeConfigFile, kubeConfigFile: /etc/kubeconfig}\n"
             "    matchConditions:\n    - expression: request.time\n") ==
        "line 13: " + path +
            "[0].expression: Invalid value: \"request.time\": compilation failed: ERROR: "
            "<input>:1:8: undefined field 'time'\\n | request.time\\n | .......^");
}

// TestLoadFromData, "v1 - defaults" and the like of v1alpha1 and v1beta1, as far as a configuration
// that lacks what is required can be read here.
TEST_CASE("authz: every version of a configuration has the same defaults", "[authz]") {
  WebhookConfiguration webhook = Webhook();
  webhook.match_condition_subject_access_review_version = "";
  webhook.subject_access_review_version = "v1beta1";
  REQUIRE(webhook.authorized_ttl == minutes(5));
  REQUIRE(webhook.unauthorized_ttl == seconds(30));
  REQUIRE(webhook.cache_authorized_requests);
  REQUIRE(webhook.cache_unauthorized_requests);
  for (const std::string version : {"v1alpha1", "v1beta1", "v1"}) {
    const std::string yaml =
        "\napiVersion: apiserver.config.k8s.io/" + version +
        "\nkind: AuthorizationConfiguration\nauthorizers:\n- type: Webhook\n  name: default\n"
        "  webhook:\n    timeout: 5s\n    subjectAccessReviewVersion: v1beta1\n"
        "    failurePolicy: NoOpinion\n    connectionInfo: {type: InClusterConfig}\n"
        "    authorizedTTL: 0s\n- {type: RBAC, name: rbac}\n";
    const auto read = ParseAuthorizationConfiguration(yaml, *Files());
    REQUIRE(read.status() == Status());
    CHECK(*read == AuthorizationConfiguration{{{"Webhook", "default", webhook}, {"RBAC", "rbac"}}});
    const std::string json = R"({"apiVersion":"apiserver.config.k8s.io/)" + version +
                             R"(","kind":"AuthorizationConfiguration",)"
                             R"("authorizers":[{"type":"AlwaysAllow","name":"alwaysallow"}]})";
    CHECK(ParseAuthorizationConfiguration(json, *Files()).value() ==
          AuthorizationConfiguration{{{"AlwaysAllow", "alwaysallow"}}});
  }
}

TEST_CASE("authz: everything that a webhook says is read", "[authz]") {
  const auto read = ParseAuthorizationConfiguration(
      "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n"
      "- type: Webhook\n  name: a\n  webhook:\n    timeout: 1500ms\n    authorizedTTL: 1m\n"
      "    cacheAuthorizedRequests: false\n    unauthorizedTTL: 1h\n"
      "    cacheUnauthorizedRequests: false\n    subjectAccessReviewVersion: v1\n"
      "    matchConditionSubjectAccessReviewVersion: v1\n    failurePolicy: Deny\n"
      "    connectionInfo: {type: KubeConfigFile, kubeConfigFile: /etc/kubeconfig}\n"
      "    matchConditions: []\n",
      *Files());
  REQUIRE(read.status() == Status());
  CHECK(read->authorizers.at(0).webhook ==
        WebhookConfiguration{
            .authorized_ttl = minutes(1),
            .cache_authorized_requests = false,
            .unauthorized_ttl = std::chrono::hours(1),
            .cache_unauthorized_requests = false,
            .timeout = std::chrono::milliseconds(1500),
            .subject_access_review_version = "v1",
            .match_condition_subject_access_review_version = "v1",
            .failure_policy = "Deny",
            .connection_info = {.type = "KubeConfigFile", .kube_config_file = "/etc/kubeconfig"}});
}

// TestLoadFromData, the cases with an error; and what strict decoding finds.
TEST_CASE("authz: a configuration that cannot be read says what is wrong and where", "[authz]") {
  const auto parse = [](const std::string& text) {
    const auto config = ParseAuthorizationConfiguration(text, *Files());
    REQUIRE(config.status().reason() == Reason::kInvalid);
    return std::string(config.status().message());
  };
  const std::string versions =
      "use apiserver.config.k8s.io/v1, apiserver.config.k8s.io/v1beta1, "
      "apiserver.config.k8s.io/v1alpha1";
  CHECK(parse("") ==
        "the file is empty; it must hold an object of kind AuthorizationConfiguration");
  CHECK(parse(R"({"kind":"AuthorizationConfiguration"})") ==
        R"(line 1: apiVersion is ""; )" + versions);
  CHECK(parse(R"({"apiVersion":"apiserver.config.k8s.io/v1alpha1"})") ==
        R"(line 1: kind is ""; use AuthorizationConfiguration)");
  CHECK(parse(R"({"apiVersion":"apps/v1alpha1","kind":"AuthorizationConfiguration"})") ==
        R"(line 1: apiVersion is "apps/v1alpha1"; )" + versions);
  CHECK(
      parse(
          R"({"apiVersion":"apiserver.config.k8s.io/v99","kind":"AuthorizationConfiguration"})") ==
      R"(line 1: apiVersion is "apiserver.config.k8s.io/v99"; )" + versions);
  CHECK(parse(R"({"apiVersion":"apiserver.config.k8s.io/v1alpha1","kind":"SomeConfiguration"})") ==
        R"(line 1: kind is "SomeConfiguration"; use AuthorizationConfiguration)");
  CHECK(Read("authorizers:\n- {type: RBAC, name: rbac, \"new\\nline\": {}}\n") ==
        R"(line 4: authorizers[0].new\nline is no field here; known are type, name, webhook)");
  CHECK(Read("authorizers:\n- {type: RBAC, name: rbac, wehbook: {}}\n") ==
        "line 4: authorizers[0].wehbook is no field here; known are type, name, webhook");
  CHECK(Read("authorizers:\n- type: Webhook\n  name: a\n  webhook:\n    timeout: 3\n"
             "    authorizedTTL: 5 minutes\n    cacheAuthorizedRequests: 'yes'\n"
             "    connectionInfo: {type: KubeConfigFile, kubeConfigFile: [a]}\n") ==
        "line 7: authorizers[0].webhook.timeout must be a string; line 8: "
        "authorizers[0].webhook.authorizedTTL time: unknown unit \" minutes\" in duration "
        "\"5 minutes\"; use one like \"30s\" or \"5m\"; line 9: "
        "authorizers[0].webhook.cacheAuthorizedRequests must be true or false; line 10: "
        "authorizers[0].webhook.connectionInfo.kubeConfigFile must be a string");
  CHECK(Read("authorizers: {}\n") == "line 3: authorizers must be a list");
}

// LoadAndValidateData of kube-apiserver.
TEST_CASE("authz: authorizers are named as their type, and those that there are not are refused",
          "[authz]") {
  CHECK(Read("authorizers:\n- {type: RBAC, name: mine}\n- {type: AlwaysDeny, name: rbac}\n") ==
        "line 4: authorizers[0].name is wrong: expected name rbac for authorizer RBAC instead of "
        "mine; line 5: authorizers[1].name is wrong: expected name alwaysdeny for authorizer "
        "AlwaysDeny instead of rbac");
  CHECK(Read("authorizers:\n- {type: Node, name: node}\n- {type: RBAC, name: rbac}\n"
             "- {type: ABAC, name: abac}\n") ==
        "line 4: authorizers[0].type is Node, which this server does not have; leave it out, or "
        "ask a webhook that has it; line 6: authorizers[2].type is ABAC, which this server does "
        "not have; leave it out, or ask a webhook that has it");
  CHECK(Read("authorizers:\n- {type: Rbac, name: rbac}\n") ==
        R"(line 4: authorizers[0].type: Unsupported value: "Rbac": supported values: "ABAC", )"
        R"("AlwaysAllow", "AlwaysDeny", "Node", "RBAC", "Webhook")");
}

}  // namespace apiserver::inline v0::authz
