#include "apiserver/audit/policy.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace apiserver::inline v0::audit {
namespace {

const auth::UserInfoPtr& Tim() {
  static const auto tim = std::make_shared<const auth::UserInfo>(
      auth::UserInfo{.name = "tim@k8s.io", .groups = {"humans", "developers"}});
  return tim;
}

// policy/checker_test.go attrs.
const std::map<std::string, auth::Attributes>& Requests() {
  static const std::map<std::string, auth::Attributes> requests = {
      {"namespaced",
       {.user = Tim(),
        .verb = "get",
        .resource_request = true,
        .version = "v1",
        .resource = "pods",
        .namespace_ = "default",
        .name = "busybox",
        .path = "/api/v1/namespaces/default/pods/busybox"}},
      {"cluster",
       {.user = Tim(),
        .verb = "get",
        .resource_request = true,
        .group = "rbac.authorization.k8s.io",
        .version = "v1beta1",
        .resource = "clusterroles",
        .name = "edit",
        .path = "/apis/rbac.authorization.k8s.io/v1beta1/clusterroles/edit"}},
      {"nonResource", {.user = Tim(), .verb = "get", .path = "/logs/kubelet.log"}},
      {"subresource",
       {.user = Tim(),
        .verb = "get",
        .resource_request = true,
        .version = "v1",
        .resource = "pods",
        .subresource = "log",
        .namespace_ = "default",
        .name = "busybox",
        .path = "/api/v1/namespaces/default/pods/busybox"}},
      {"Unauthorized",
       {.user = nullptr,
        .verb = "get",
        .resource_request = true,
        .version = "v1",
        .resource = "pods",
        .namespace_ = "default",
        .name = "busybox",
        .path = "/api/v1/namespaces/default/pods/busybox"}},
      {"ClusterRoleUpdate",
       {.user = Tim(),
        .verb = "update",
        .resource_request = true,
        .group = "rbac.authorization.k8s.io",
        .version = "v1beta1",
        .resource = "clusterroles",
        .subresource = "status",
        .name = "somerole",
        .path = "/apis/rbac.authorization.k8s.io/v1beta1/clusterroles/somerole"}}};
  return requests;
}

// policy/checker_test.go rules.
const std::map<std::string, std::string>& Rules() {
  static const std::map<std::string, std::string> rules = {
      {"default", "{level: Metadata}"},
      {"create", "{level: Request, verbs: [create]}"},
      {"tims", "{level: Metadata, users: [tim@k8s.io]}"},
      {"humans", "{level: Metadata, userGroups: [humans]}"},
      {"serviceAccounts", "{level: Request, userGroups: ['system:serviceaccounts']}"},
      {"getPods", "{level: RequestResponse, verbs: [get], resources: [{resources: [pods]}]}"},
      {"getPodLogs", "{level: Request, verbs: [get], resources: [{resources: [pods/log]}]}"},
      {"getPodWildcardMatching", "{level: Request, verbs: [get], resources: [{resources: ['*']}]}"},
      {"getPodResourceWildcardMatching",
       "{level: Request, verbs: [get], resources: [{resources: ['*/log']}]}"},
      {"getPodSubResourceWildcardMatching",
       "{level: Request, verbs: [get], resources: [{resources: ['pods/*']}]}"},
      {"getClusterRoles",
       "{level: RequestResponse, verbs: [get], namespaces: [''], "
       "resources: [{group: rbac.authorization.k8s.io, resources: [clusterroles]}]}"},
      {"getGroupWildCardMatchingWithSubresourceWildcardMatching",
       "{level: RequestResponse, verbs: [update], "
       "resources: [{group: '*', resources: ['*/status']}]}"},
      {"getLogs", "{level: RequestResponse, verbs: [get], nonResourceURLs: ['/logs*']}"},
      {"getMetrics", "{level: Request, verbs: [get], nonResourceURLs: [/metrics]}"},
      {"clusterRoleEdit",
       "{level: Request, resources: [{group: rbac.authorization.k8s.io, "
       "resources: [clusterroles], resourceNames: [edit]}]}"},
      {"omit RequestReceived", "{level: Request, omitStages: [RequestReceived]}"},
      {"only audit panic",
       "{level: Request, omitStages: [RequestReceived, ResponseStarted, ResponseComplete]}"}};
  return rules;
}

constexpr std::string_view kHead = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";

Result<Policy> Parse(const std::string& text) { return ParsePolicy(std::string(kHead) + text); }

Policy PolicyOf(const std::vector<std::string>& rules, const std::string& omit_stages) {
  std::string text = "omitStages: [" + omit_stages + "]\nrules:\n";
  for (const std::string& rule : rules) text += "- " + Rules().at(rule) + "\n";
  auto policy = Parse(text);
  INFO(policy.status().ToString());
  REQUIRE(policy.ok());
  return *policy;
}

constexpr OmittedStages kNoStage = {};
constexpr OmittedStages kReceived = {true, false, false, false};
constexpr OmittedStages kReceivedAndStarted = {true, true, false, false};
constexpr OmittedStages kAllButPanic = {true, true, true, false};

struct LevelCase {
  std::string request;
  Level level;
  std::vector<std::string> rules;
};

const std::vector<LevelCase>& LevelCases() {
  using enum Level;
  static const std::vector<LevelCase> cases = {
      {"namespaced", kMetadata, {"default"}},
      {"namespaced", kNone, {"create"}},
      {"namespaced", kMetadata, {"tims"}},
      {"namespaced", kMetadata, {"humans"}},
      {"namespaced", kNone, {"serviceAccounts"}},
      {"namespaced", kRequestResponse, {"getPods"}},
      {"namespaced", kNone, {"getClusterRoles"}},
      {"namespaced", kNone, {"getLogs"}},
      {"namespaced", kNone, {"getMetrics"}},
      {"namespaced", kMetadata, {"getMetrics", "serviceAccounts", "default"}},
      {"namespaced", kRequestResponse, {"getMetrics", "getPods", "default"}},
      {"namespaced", kRequestResponse, {"getPodLogs", "getPods"}},
      {"cluster", kMetadata, {"default"}},
      {"cluster", kNone, {"create"}},
      {"cluster", kMetadata, {"tims"}},
      {"cluster", kMetadata, {"humans"}},
      {"cluster", kNone, {"serviceAccounts"}},
      {"cluster", kNone, {"getPods"}},
      {"cluster", kRequestResponse, {"getClusterRoles"}},
      {"cluster", kRequest, {"clusterRoleEdit", "getClusterRoles"}},
      {"cluster", kNone, {"getLogs"}},
      {"cluster", kNone, {"getMetrics"}},
      {"cluster", kMetadata, {"getMetrics", "serviceAccounts", "default"}},
      {"cluster", kRequestResponse, {"getMetrics", "getClusterRoles", "default"}},
      {"cluster", kNone, {"getPodLogs", "getPods"}},
      {"nonResource", kMetadata, {"default"}},
      {"nonResource", kNone, {"create"}},
      {"nonResource", kMetadata, {"tims"}},
      {"nonResource", kMetadata, {"humans"}},
      {"nonResource", kNone, {"serviceAccounts"}},
      {"nonResource", kNone, {"getPods"}},
      {"nonResource", kNone, {"getClusterRoles"}},
      {"nonResource", kRequestResponse, {"getLogs"}},
      {"nonResource", kNone, {"getMetrics"}},
      {"nonResource", kMetadata, {"getMetrics", "serviceAccounts", "default"}},
      {"nonResource", kRequestResponse, {"getLogs", "getClusterRoles", "default"}},
      {"nonResource", kNone, {"getPodLogs", "getPods"}},
      {"subresource", kRequest, {"getPodLogs", "getPods"}},
      {"subresource", kRequest, {"getPodWildcardMatching"}},
      {"subresource", kRequest, {"getPodResourceWildcardMatching"}},
      {"subresource", kRequest, {"getPodSubResourceWildcardMatching"}},
      {"Unauthorized", kNone, {"tims"}},
      {"Unauthorized", kMetadata, {"tims", "default"}},
      {"Unauthorized", kNone, {"humans"}},
      {"Unauthorized", kMetadata, {"humans", "default"}},
      {"ClusterRoleUpdate",
       kRequestResponse,
       {"getGroupWildCardMatchingWithSubresourceWildcardMatching"}}};
  return cases;
}

struct StageCase {
  std::string policy_stages;
  std::string request;
  Level level;
  OmittedStages omitted;
  std::vector<std::string> rules;
};

}  // namespace

// TestChecker, TestCheckerPolicyOmitStages (testAuditLevel)
TEST_CASE("audit: the first rule that matches decides the level", "[audit]") {
  for (const auto& [stages, omitted] :
       {std::pair("", kNoStage),
        std::pair("RequestReceived, ResponseStarted", kReceivedAndStarted)}) {
    for (const LevelCase& each : LevelCases()) {
      CAPTURE(each.request, each.rules, stages);
      const auto evaluator = NewPolicyRuleEvaluator(PolicyOf(each.rules, stages));
      const RequestAuditConfig config = evaluator->EvaluatePolicyRule(Requests().at(each.request));
      CHECK(LevelWord(config.level) == LevelWord(each.level));
      CHECK(config.omit_stages == omitted);
    }
  }
}

// What a rule that keeps secrets out says of one request, it must not say of its neighbours; nor
// may one that lets much in be taken for theirs. Row 24 of docs/security.md.
TEST_CASE("security 24: a rule is about all that it names and nothing beside", "[audit]") {
  const auth::Attributes pod = Requests().at("namespaced");
  const auto but = [&pod](const auto& change) {
    auth::Attributes other = pod;
    change(other);
    return other;
  };
  const auto other_user = std::make_shared<const auth::UserInfo>(
      auth::UserInfo{.name = "eve", .groups = {"developers"}});
  const auth::Attributes path = Requests().at("nonResource");
  struct Row {
    std::string rule;
    auth::Attributes inside;
    auth::Attributes outside;
  };
  const std::vector<Row> rows = {
      {"users: [tim@k8s.io]", pod, but([&](auto& asked) { asked.user = other_user; })},
      {"userGroups: [humans]", pod, but([&](auto& asked) { asked.user = other_user; })},
      {"verbs: [get]", pod, but([](auto& asked) { asked.verb = "list"; })},
      {"namespaces: [default]", pod, but([](auto& asked) { asked.namespace_ = "other"; })},
      {"namespaces: [default]", pod, but([](auto& asked) { asked.namespace_ = ""; })},
      {"namespaces: [default]", pod, path},
      {"namespaces: ['']", but([](auto& asked) { asked.namespace_ = ""; }), pod},
      {"resources: [{}]", pod, but([](auto& asked) { asked.group = "apps"; })},
      {"resources: [{resources: [pods]}]", pod, but([](auto& asked) { asked.group = "apps"; })},
      {"resources: [{resources: [pods]}]", pod, but([](auto& asked) { asked.resource = "pod"; })},
      {"resources: [{resources: [pods]}]", pod,
       but([](auto& asked) { asked.subresource = "log"; })},
      {"resources: [{resources: [pods/log]}]", but([](auto& asked) { asked.subresource = "log"; }),
       pod},
      {"resources: [{resources: ['*/log']}]", but([](auto& asked) { asked.subresource = "log"; }),
       but([](auto& asked) { asked.subresource = "logs"; })},
      {"resources: [{resources: [pods], resourceNames: [busybox]}]", pod,
       but([](auto& asked) { asked.name = "busybox2"; })},
      {"nonResourceURLs: [/logs/kubelet.log]", path, pod},
      {"nonResourceURLs: ['/logs/*']", path, {.user = Tim(), .verb = "get", .path = "/log/x"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.rule);
    const auto policy = Parse("rules:\n- {level: Metadata, " + row.rule + "}\n- level: Request\n");
    REQUIRE(policy.ok());
    const auto evaluator = NewPolicyRuleEvaluator(*policy);
    CHECK(evaluator->EvaluatePolicyRule(row.inside).level == Level::kMetadata);
    CHECK(evaluator->EvaluatePolicyRule(row.outside).level == Level::kRequest);
  }
}

// TestChecker, TestCheckerPolicyOmitStages, TestUnionStages
TEST_CASE("audit: stages that the policy or the rule omits are omitted", "[audit]") {
  const std::string both = "RequestReceived, ResponseStarted";
  std::vector<StageCase> cases;
  for (const char* request : {"namespaced", "cluster", "nonResource"}) {
    cases.push_back(
        {"", request, Level::kRequest, kReceived, {"omit RequestReceived", "getPods", "default"}});
    cases.push_back(
        {"", request, Level::kRequest, kAllButPanic, {"only audit panic", "getPods", "default"}});
    cases.push_back(
        {both, request, Level::kRequest, kAllButPanic, {"only audit panic", "getPods", "default"}});
  }
  for (const char* request : {"namespaced", "cluster"}) {
    cases.push_back({both,
                     request,
                     Level::kRequest,
                     kReceivedAndStarted,
                     {"omit RequestReceived", "getPods", "default"}});
  }
  cases.push_back({both,
                   "nonResource",
                   Level::kMetadata,
                   kReceivedAndStarted,
                   {"default", "omit RequestReceived", "getPods"}});
  cases.push_back(
      {"Panic", "cluster", Level::kRequest, {true, false, false, true}, {"omit RequestReceived"}});
  for (const StageCase& each : cases) {
    CAPTURE(each.request, each.rules, each.policy_stages);
    const auto evaluator = NewPolicyRuleEvaluator(PolicyOf(each.rules, each.policy_stages));
    const RequestAuditConfig config = evaluator->EvaluatePolicyRule(Requests().at(each.request));
    CHECK(LevelWord(config.level) == LevelWord(each.level));
    CHECK(config.omit_stages == each.omitted);
  }
}

// TestOmitManagedFields
TEST_CASE("audit: a rule's omitManagedFields stands over the policy's", "[audit]") {
  struct Case {
    bool policy;
    std::optional<bool> rule;
    bool want;
  };
  for (const Case& each : {Case{false, {}, false}, Case{true, {}, true}, Case{true, false, false},
                           Case{false, true, true}}) {
    const PolicyRule rule{
        .level = Level::kRequestResponse, .verbs = {"get"}, .omit_managed_fields = each.rule};
    const auto evaluator =
        NewPolicyRuleEvaluator({.rules = {rule}, .omit_managed_fields = each.policy});
    CHECK(evaluator->EvaluatePolicyRule({.user = nullptr, .verb = "get"}).omit_managed_fields ==
          each.want);
  }
}

// TestParser
TEST_CASE("audit: a policy is read from YAML and from JSON", "[audit]") {
  const Policy want{
      .rules = {{.level = Level::kNone, .non_resource_urls = {"/healthz*", "/version"}},
                {.level = Level::kRequestResponse,
                 .users = {"tim"},
                 .user_groups = {"testers", "developers"},
                 .verbs = {"patch", "delete", "create"},
                 .resources = {{},
                               {.group = "rbac.authorization.k8s.io",
                                .resources = {"clusterroles", "clusterrolebindings"}}},
                 .namespaces = {"default", "kube-system"}},
                {.level = Level::kMetadata}}};
  const auto yaml = ParsePolicy(R"(
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
  - level: None
    nonResourceURLs:
      - /healthz*
      - /version
  - level: RequestResponse
    users: ["tim"]
    userGroups: ["testers", "developers"]
    verbs: ["patch", "delete", "create"]
    resources:
      - group: ""
      - group: "rbac.authorization.k8s.io"
        resources: ["clusterroles", "clusterrolebindings"]
    namespaces: ["default", "kube-system"]
  - level: Metadata
)");
  REQUIRE(yaml.ok());
  CHECK(*yaml == want);
  const auto json =
      ParsePolicy(R"({"apiVersion":"audit.k8s.io/v1","kind":"Policy","omitManagedFields":true,)"
                  R"("rules":[{"level":"Request"}]})");
  REQUIRE(json.ok());
  CHECK(*json == Policy{.rules = {{.level = Level::kRequest}}, .omit_managed_fields = true});
}

// TestValidatePolicy, the valid rules one by one and together; a policy without rules is refused
// by TestPolicyCntCheck.
TEST_CASE("audit: valid policies are taken", "[audit]") {
  const std::vector<std::string> valid = {
      "{level: Metadata}", "{level: None, userGroups: ['system:serviceaccounts', 'system:nodes']}",
      "{level: RequestResponse, verbs: [get], resources: [{group: rbac.authorization.k8s.io, "
      "resources: [roles, rolebindings]}], namespaces: [kube-system]}",
      "{level: Metadata, userGroups: [developers], "
      "nonResourceURLs: ['/logs*', '/healthz*', /metrics, '*']}",
      "{level: Metadata, omitStages: [RequestReceived]}"};
  std::string all = "omitStages: [RequestReceived]\nrules:\n";
  for (const std::string& rule : valid) {
    CAPTURE(rule);
    CHECK(Parse("rules:\n- " + rule).status().ToString() == Status().ToString());
    all += "- " + rule + "\n";
  }
  CHECK(Parse(all).ok());
}

// TestValidatePolicy, the invalid rules; TestParsePolicyWithNoVersionOrKind, TestPolicyCntCheck.
TEST_CASE("audit: what is wrong with a policy is told with its line", "[audit]") {
  struct Case {
    std::string text;  // After apiVersion and kind, which are lines 1 and 2.
    std::string error;
  };
  const std::string levels = R"("None", "Metadata", "Request", "RequestResponse")";
  const std::string stages =
      "allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic";
  const std::vector<Case> cases = {
      {"rules:\n- {}",
       "line 4: rules[0].level: Required value: use None, Metadata, Request or RequestResponse"},
      {"rules:\n- verbs: [get]\n  resources: [{resources: [secrets]}]\n  namespaces: [kube-system]",
       "line 4: rules[0].level: Required value: use None, Metadata, Request or RequestResponse"},
      {"rules:\n- level: Metadata\n- verbs: [get]\n  level: FooBar",
       "line 6: rules[1].level: Unsupported value: \"FooBar\": supported values: " + levels},
      {"rules:\n- level: Metadata\n  namespaces: [default]\n  nonResourceURLs: ['/logs*']",
       "line 6: rules[0].nonResourceURLs: Invalid value: [\"/logs*\"]: "
       "rules cannot apply to both regular resources and non-resource URLs"},
      {"rules:\n- level: Metadata\n  resources: [{resources: [secrets]}]\n"
       "  nonResourceURLs: ['/logs*']",
       "line 6: rules[0].nonResourceURLs: Invalid value: [\"/logs*\"]: "
       "rules cannot apply to both regular resources and non-resource URLs"},
      {"rules:\n- level: Metadata\n  resources:\n  - group: rbac.authorization.k8s.io/v1beta1\n"
       "    resources: [roles]",
       "line 6: rules[0].resources[0].group: Invalid value: "
       "\"rbac.authorization.k8s.io/v1beta1\": a lowercase RFC 1123 subdomain must consist of "
       "lower case alphanumeric characters, '-' or '.', and must start and end with an "
       "alphanumeric character (e.g. 'example.com', regex used for validation is "
       "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
      {"rules:\n- level: Metadata\n  nonResourceURLs:\n  - logs\n  - /healthz*",
       "line 6: rules[0].nonResourceURLs[0]: Invalid value: \"logs\": "
       "non-resource URL rules must begin with a '/' character"},
      {"rules:\n- level: Metadata\n  nonResourceURLs: ['', '/healthz*']",
       "line 5: rules[0].nonResourceURLs[0]: Invalid value: \"\": "
       "non-resource URL rules must begin with a '/' character"},
      {"rules:\n- level: Metadata\n  nonResourceURLs: [/logs/*/*, /metrics]",
       "line 5: rules[0].nonResourceURLs[0]: Invalid value: \"/logs/*/*\": "
       "non-resource URL wildcards '*' must be the final character of the rule"},
      {"rules:\n- level: Metadata\n  nonResourceURLs: [/logs/*.log, /metrics]",
       "line 5: rules[0].nonResourceURLs[0]: Invalid value: \"/logs/*.log\": "
       "non-resource URL wildcards '*' must be the final character of the rule"},
      {"rules:\n- level: Metadata\n  verbs: [get]\n  resources: [{resourceNames: [leader]}]\n"
       "  namespaces: [kube-system]",
       "line 6: rules[0].resources[0].resourceNames: Invalid value: [\"leader\"]: "
       "using resourceNames requires at least one resource"},
      {"rules:\n- level: Metadata\n  omitStages: [foo]",
       "line 5: rules[0].omitStages[0]: Invalid value: \"foo\": " + stages},
      {"omitStages:\n- foo\nrules:\n- level: Metadata",
       "line 4: omitStages[0]: Invalid value: \"foo\": " + stages},
      {"rules: []",
       "rules is empty, so nothing would be recorded; give at least one rule, such as `- level: "
       "Metadata`"},
      {"rules:\n- level: None\n  resources:\n  - group: coordination.k8s.io\n"
       "    resources: [leases]\n    verbs: [watch]",
       "line 8: rules[0].resources[0].verbs is no field here; known are group, resources, "
       "resourceNames"},
      {"rules:\n- level: None\n  level: Metadata",
       "line 5: key \"level\" already set in map; keep one of them"},
      {"rules:\n- level: Metadata\n  users: tim", "line 5: rules[0].users must be a list"},
      {"rules: {}", "line 3: rules must be a list"},
      {"rules:\n- level: Metadata\n  omitManagedFields: 'yes'",
       "line 5: rules[0].omitManagedFields must be true or false"}};
  for (const Case& each : cases) {
    CAPTURE(each.text);
    const auto policy = Parse(each.text);
    CHECK(policy.status().reason() == Reason::kInvalid);
    CHECK(std::string(policy.status().message()) == each.error);
  }
}

TEST_CASE("audit: a file that is no policy of a known version is refused", "[audit]") {
  const auto error = [](std::string_view text) {
    return std::string(ParsePolicy(text).status().message());
  };
  CHECK(error("") == "the file is empty; it must hold an object of kind Policy");
  CHECK(error("rules:\n- level: None") ==
        "line 1: apiVersion is \"\"; use audit.k8s.io/v1; line 1: kind is \"\"; use Policy");
  CHECK(error("apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules:\n- level: None") ==
        "line 1: apiVersion is \"audit.k8s.io/v1beta1\"; use audit.k8s.io/v1");
  CHECK(error("- a") == "line 1: the document must be an object with apiVersion and kind Policy");
  CHECK(error("kind: [").starts_with("yaml: line "));
}

TEST_CASE("audit: the error of a policy file names the file", "[audit]") {
  const auto files = NewMemoryFileSystem();
  CHECK(LoadPolicyFile(*files, "policy.yaml").status().message() ==
        "audit policy: open policy.yaml: No such file or directory");
  REQUIRE(files->WriteAtomically("policy.yaml", std::string(kHead) + "rules:\n- level: Foo", 0600)
              .ok());
  CHECK(std::string(LoadPolicyFile(*files, "policy.yaml").status().message())
            .starts_with("audit policy policy.yaml: line 4: rules[0].level: Unsupported value"));
  REQUIRE(files->WriteAtomically("policy.yaml", std::string(kHead) + "rules:\n- level: None", 0600)
              .ok());
  CHECK(LoadPolicyFile(*files, "policy.yaml").ok());
}

}  // namespace apiserver::inline v0::audit
