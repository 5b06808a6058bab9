// Webhooks that are asked: the tables of plugin/webhook/testing/testcase.go, which upstream runs
// through both plugins (validating/plugin_test.go, mutating/plugin_test.go).
#include <catch2/catch.hpp>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/testing/server/fake_clock.h"
#include "webhook_fixture.h"

using namespace apiserver;  // NOLINT: tests only.
using namespace apiserver::testing;
using admission::Webhook;
using admission::WebhookType;

namespace {

using Annotated = std::map<std::string, std::string>;

struct Case {
  const char* name;
  std::vector<Webhook> webhooks;
  int code = 200;  // 200: allowed.
  const char* error = "";
  Annotated annotations = {};  // As the validating plugin adds them.
  bool dry_run = false;
  const char* metrics = "";  // Labels after the operation.
};

void FailOpen(Webhook& webhook) { webhook.fail_open = true; }
void OnlyCreate(Webhook& webhook) { webhook.rules[0].operations = {"CREATE"}; }
void Unreachable(Webhook& webhook) { webhook.client_config = {}; }
void Unselected(Webhook& webhook) { webhook.object_selector = Selector("label=nonexistent"); }
std::function<void(Webhook&)> InNamespaces(const std::string& selector) {
  return [selector](Webhook& webhook) { webhook.namespace_selector = Selector(selector); };
}
std::function<void(Webhook&)> Effects(const std::string& side_effects) {
  return [side_effects](Webhook& webhook) { webhook.side_effects = side_effects; };
}
std::vector<Webhook> ServerErrors(bool fail_open) {
  std::vector<Webhook> errors;
  for (const char* letter : {"A", "B", "C"}) {
    errors.push_back(WebhookAt(std::string("internalErr ") + letter, "internalErr"));
    errors.back().fail_open = fail_open;
  }
  return errors;
}
std::string FailedOpen(int index) {
  return "failed-open.validating.webhook.admission.k8s.io/round_0_index_" + std::to_string(index);
}

std::vector<Case> AnswerCases() {
  return {
      {"no match", {With(WebhookAt("nomatch", "disallow"), OnlyCreate)}},
      {"match & allow",
       {WebhookAt("allow.example.com", "allow")},
       200,
       "",
       {{"allow.example.com/key1", "value1"}}},
      {"match & disallow",
       {WebhookAt("disallow", "disallow")},
       403,
       "admission webhook \"disallow\" denied the request without explanation",
       {},
       false,
       R"(error_type="no_error",rejection_code="403")"},
      {"match & disallow ii",
       {WebhookAt("disallowReason", "disallowReason")},
       403,
       "admission webhook \"disallowReason\" denied the request: you shall not pass"},
      {"namespaceSelector exempts the ns",
       {With(WebhookAt("disallow", "disallow"), InNamespaces("runlevel in (1)"))}},
      {"namespaceSelector exempts the ns ii",
       {With(WebhookAt("disallow", "disallow"),
             InNamespaces("kubernetes.io/metadata.name notin (webhook-test)"))}},
      {"match & fail (but allow because fail open)",
       ServerErrors(/*fail_open=*/true),
       200,
       "",
       {{FailedOpen(0), "internalErr A"},
        {FailedOpen(1), "internalErr B"},
        {FailedOpen(2), "internalErr C"}}},
      {"match & fail (but fail because fail closed)",
       ServerErrors(/*fail_open=*/false),
       500,
       "Internal error occurred: failed calling webhook \"internalErr A\": failed to call webhook: "
       "an error on the server (\"webhook internal server error\") has prevented the request from "
       "succeeding",
       {},
       false,
       R"(error_type="calling_webhook_error",rejection_code="500")"}};
}

std::vector<Case> FailureCases() {
  return {{"match & invalid client config",
           {With(WebhookAt("invalidClientConfig", ""), Unreachable)},
           500,
           "Internal error occurred: failed calling webhook \"invalidClientConfig\": could not get "
           "REST client: webhook configuration must have either service or URL",
           {},
           false,
           R"(error_type="calling_webhook_error",rejection_code="500")"},
          {"match & non-status error",
           {WebhookAt("nonStatusError", "nonStatusError")},
           500,
           "failed to call webhook: Post \"https://webhook.test/nonStatusError?timeout=10s\": "
           "malformed "
           "HTTP response \"bad-http\"",
           {},
           false,
           R"(error_type="calling_webhook_error",rejection_code="503")"},
          {"absent response and fail open",
           {With(WebhookAt("nilResponse", "nilResponse"), FailOpen)},
           200,
           "",
           {{FailedOpen(0), "nilResponse"}}},
          {"absent response and fail closed",
           {WebhookAt("nilResponse", "nilResponse")},
           500,
           "received invalid webhook response: webhook response was absent"},
          {"not a review",
           {WebhookAt("invalidResp", "invalidResp")},
           500,
           "failed to call webhook: couldn't get version/kind; json parse error: "}};
}

std::vector<Case> DryRunAndSelectionCases() {
  return {{"no match dry run",
           {With(With(WebhookAt("nomatch", "allow"), OnlyCreate), Effects("Some"))},
           200,
           "",
           {},
           true},
          {"match dry run side effects Unknown",
           {With(WebhookAt("allow", "allow"), Effects("Unknown"))},
           400,
           "admission webhook \"allow\" does not support dry run",
           {},
           true,
           R"(error_type="apiserver_internal_error",rejection_code="0")"},
          {"match dry run side effects None",
           {With(WebhookAt("allow", "allow"), Effects("None"))},
           200,
           "",
           {{"allow/key1", "value1"}},
           true},
          {"match dry run side effects Some",
           {With(WebhookAt("allow", "allow"), Effects("Some"))},
           400,
           "does not support dry run",
           {},
           true},
          {"match dry run side effects NoneOnDryRun",
           {With(WebhookAt("allow", "allow"), Effects("NoneOnDryRun"))},
           200,
           "",
           {{"allow/key1", "value1"}},
           true},
          {"match dry run side effects nil",
           {With(WebhookAt("allow", "allow"), Effects(""))},
           500,
           "failed calling webhook \"allow\": Webhook SideEffects is nil",
           {},
           true},
          {"illegal annotation format", {WebhookAt("invalidAnnotation", "invalidAnnotation")}},
          {"skip webhook whose objectSelector does not match",
           {WebhookAt("allow.example.com", "allow"),
            With(WebhookAt("shouldNotBeCalled", "shouldNotBeCalled"), Unselected)},
           200,
           "",
           {{"allow.example.com/key1", "value1"}}},
          {"unknown review version",
           {With(WebhookAt("old", "allow"),
                 [](Webhook& webhook) { webhook.review_versions = {"v2"}; })},
           500,
           "failed calling webhook \"old\": could not create admission objects: webhook does not "
           "accept "
           "known AdmissionReview versions (v1, v1beta1)"}};
}

std::vector<Case> MatchConditionCases() {
  return {{"match conditions that do not match",
           {With(WebhookAt("cel", "shouldNotBeCalled"),
                 [](Webhook& webhook) {
                   webhook.match_conditions = {{"fails", "object.missing == 1"},
                                               {"other", "object.metadata.name == 'other'"}};
                 })},
           200,
           ""},
          {"match conditions that match",
           {With(WebhookAt("cel", "disallowReason"),
                 [](Webhook& webhook) {
                   webhook.match_conditions = {
                       {"own", "object.metadata.name == 'my-widget' && oldObject.kind == 'Widget'"},
                       {"update", "request.operation == 'UPDATE' && namespaceObject == null"}};
                 })},
           403,
           "you shall not pass"},
          {"match conditions that fail",
           {With(WebhookAt("cel", "shouldNotBeCalled"),
                 [](Webhook& webhook) {
                   webhook.match_conditions = {{"fails", "object.missing == 1"}};
                 })},
           403,
           "widgets.example.com \"my-widget\" is forbidden: expression 'object.missing == 1' "
           "resulted in error: no such key: missing"},
          {"match conditions that do not compile",
           {With(WebhookAt("cel", "shouldNotBeCalled"),
                 [](Webhook& webhook) {
                   webhook.match_conditions = {{"wrong", "params.x"}};
                 })},
           403,
           "compilation error: compilation failed: ERROR: <input>:1:1: undeclared reference to "
           "'params'"},
          {"match conditions that fail, and are ignored",
           {With(WebhookAt("cel", "shouldNotBeCalled"),
                 [](Webhook& webhook) {
                   webhook.fail_open = true;
                   webhook.match_conditions = {{"fails", "object.missing == 1"}};
                 })},
           200,
           ""}};
}

std::vector<Case> NonMutatingCases() {
  std::vector<Case> all = AnswerCases();
  for (auto* more : {&FailureCases, &DryRunAndSelectionCases, &MatchConditionCases}) {
    for (Case& test : more()) all.push_back(std::move(test));
  }
  return all;
}

std::string Mutation(const std::string& webhook, bool mutated) {
  return R"({"configuration":"test-webhooks","webhook":")" + webhook + R"(","mutated":)" +
         (mutated ? "true}" : "false}");
}
std::string Patch(const std::string& webhook, const std::string& patch) {
  return R"({"configuration":"test-webhooks","webhook":")" + webhook + R"(","patch":)" + patch +
         R"(,"patchType":"JSONPatch"})";
}
constexpr char kAdd[] = R"([{"op":"add","path":"/metadata/labels/added","value":"test"}])";
constexpr char kRemove[] = R"([{"op":"remove","path":"/metadata/labels/remove"}])";

// Of structural semantics, as custom resources are.
runtime::KindPtr CustomKind() {
  return runtime::Kind::New({.group = "example.com",
                             .kind = "Widget",
                             .plural = "widgets",
                             .semantics = runtime::Semantics::kCustomResource,
                             .versions = {{.version = "v1", .schema = WidgetSchema("v1", "size")}}})
      .value();
}

struct MutatingCase {
  const char* name;
  std::vector<Webhook> webhooks;
  bool remove_me = false;
  int code = 200;
  const char* error = "";
  const char* labels = R"({"widget.name":"my-widget"})";
  Annotated annotations = {};
  bool dry_run = false;
};

std::vector<MutatingCase> MutatingCases() {
  const std::string mutation = "mutation.webhook.admission.k8s.io/round_0_index_0";
  const std::string patch = "patch.webhook.admission.k8s.io/round_0_index_0";
  const auto remove = WebhookAt("removelabel.example.com", "removeLabel");
  const auto selecting = [](Webhook& webhook) { webhook.object_selector = Selector("remove=me"); };
  const Annotated removed = {{"removelabel.example.com/key1", "value1"},
                             {mutation, Mutation("removelabel.example.com", true)},
                             {patch, Patch("removelabel.example.com", kRemove)}};
  return {
      {"match & remove label", {remove}, true, 200, "", R"({"widget.name":"my-widget"})", removed},
      {"match & add label",
       {WebhookAt("addLabel", "addLabel")},
       false,
       200,
       "",
       R"({"added":"test","widget.name":"my-widget"})",
       {{mutation, Mutation("addLabel", true)}, {patch, Patch("addLabel", kAdd)}}},
      {"match & invalid mutation",
       {WebhookAt("invalidMutation", "invalidMutation")},
       false,
       500,
       "received undecodable patch in webhook response: invalid character",
       R"({"widget.name":"my-widget"})",
       {{mutation, Mutation("invalidMutation", false)}}},
      {"match & invalid patch",
       {WebhookAt("invalidPatch", "invalidPatch")},
       false,
       500,
       "received undecodable patch in webhook response: unexpected end of JSON input",
       R"({"widget.name":"my-widget"})",
       {{mutation, Mutation("invalidPatch", false)}}},
      {"match & invalid patch fail open",
       {With(WebhookAt("invalidPatch", "invalidPatch"),
             [](Webhook& webhook) { webhook.fail_open = true; })},
       false,
       200,
       "",
       R"({"widget.name":"my-widget"})",
       {{"failed-open." + mutation, "invalidPatch"}, {mutation, Mutation("invalidPatch", false)}}},
      {"match & remove label dry run unsupported",
       {With(WebhookAt("removeLabel", "removeLabel"),
             [](Webhook& webhook) { webhook.side_effects = "Unknown"; })},
       false,
       400,
       "does not support dry run",
       R"({"widget.name":"my-widget"})",
       {{mutation, Mutation("removeLabel", false)}},
       true},
      {"first webhook remove labels, second webhook shouldn't be called",
       {With(remove, selecting),
        With(WebhookAt("shouldNotBeCalled", "shouldNotBeCalled"), selecting)},
       true,
       200,
       "",
       R"({"widget.name":"my-widget"})",
       removed}};
}

}  // namespace

// NewNonMutatingTestCases through ValidatingAdmissionWebhook
TEST_CASE("webhook: validating webhooks allow, refuse and fail", "[admission]") {
  for (const Case& test : NonMutatingCases()) {
    INFO(test.name);
    Webhooks webhooks(test.webhooks);
    WidgetRequest request;
    admission::Attributes attributes = request.Attributes();
    attributes.dry_run = test.dry_run;
    const Status status = webhooks.Run(request, attributes);
    CHECK(status.code() == test.code);
    CHECK(std::string(status.message()).find(test.error) != std::string::npos);
    CHECK(request.Annotated() == test.annotations);
    if (*test.metrics == 0) continue;
    CHECK(webhooks.Counted("apiserver_admission_webhook_rejection_count{name=\"" +
                           test.webhooks.front().name +
                           R"(",type="validating",operation="UPDATE",)" + test.metrics + "} 1"));
  }
}

// NewNonMutatingTestCases through MutatingAdmissionWebhook
TEST_CASE("webhook: mutating webhooks allow, refuse and fail alike", "[admission]") {
  for (Case test : NonMutatingCases()) {
    INFO(test.name);
    for (Webhook& webhook : test.webhooks) webhook.type = WebhookType::kMutating;
    Webhooks webhooks(test.webhooks);
    WidgetRequest request;
    admission::Attributes attributes = request.Attributes();
    attributes.dry_run = test.dry_run;
    const Status status = webhooks.Run(request, attributes);
    CHECK(status.code() == test.code);
    CHECK(std::string(status.message()).find(test.error) != std::string::npos);
    CHECK(request.Labels() == R"({"widget.name":"my-widget"})");
    for (const auto& [key, value] : test.annotations) {
      const std::string prefix = "failed-open.validating.";
      const bool open = key.starts_with(prefix);
      const std::string own = open ? "failed-open.mutation." + key.substr(prefix.size()) : key;
      CHECK(request.Annotated()[own] == value);
    }
    if (*test.metrics == 0) continue;
    CHECK(webhooks.Counted("apiserver_admission_webhook_rejection_count{name=\"" +
                           test.webhooks.front().name + R"(",type="admit",operation="UPDATE",)" +
                           test.metrics + "} 1"));
  }
}

// NewMutatingTestCases
TEST_CASE("webhook: mutating webhooks change the object", "[admission]") {
  const std::vector<MutatingCase> cases = MutatingCases();
  for (const runtime::KindPtr& kind : {WidgetKind(), CustomKind()}) {
    for (const MutatingCase& test : cases) {
      INFO(test.name << (kind->semantics() == runtime::Semantics::kGoType ? "" : ", CRD"));
      std::vector<Webhook> all;
      for (const Webhook& webhook : test.webhooks) all.push_back(Mutating(webhook));
      Webhooks webhooks(all);
      WidgetRequest request(kind);
      if (test.remove_me) {
        request.object.Edit("metadata", "labels", "remove") = "me";
        // As upstream's, whose old object has no labels.
        request.old_object.Erase("metadata", "labels");
      }
      admission::Attributes attributes = request.Attributes();
      attributes.dry_run = test.dry_run;
      const Status status = webhooks.Run(request, attributes);
      CHECK(status.code() == test.code);
      CHECK(std::string(status.message()).find(test.error) != std::string::npos);
      CHECK(request.Labels() == test.labels);
      CHECK(request.Annotated() == test.annotations);
    }
  }
}

// NewMutatingTestCases "match & reinvoke if needed policy", "… never reinvoke policy"
TEST_CASE("webhook: who may be asked again is, if a later one changed the object", "[admission]") {
  for (const bool again : {true, false}) {
    INFO((again ? "IfNeeded" : "Never"));
    const auto policy = [again](Webhook& webhook) {
      webhook.type = WebhookType::kMutating;
      webhook.reinvoke_if_needed = again;
    };
    Webhooks webhooks({With(WebhookAt("addLabel", "addLabel"), policy),
                       With(WebhookAt("removeLabel", "removeLabel"), policy)});
    WidgetRequest request;
    request.object.Edit("metadata", "labels", "remove") = "me";
    CHECK(webhooks.Run(request).ok());
    std::vector<std::string> urls;
    for (const auto& sent : webhooks.servers.requests()) urls.push_back(sent.url);
    const std::string add = "https://webhook.test/addLabel?timeout=10s";
    std::vector<std::string> expected = {add, "https://webhook.test/removeLabel?timeout=10s"};
    if (again) expected.push_back(add);
    CHECK(urls == expected);
    CHECK(request.Annotated()["mutation.webhook.admission.k8s.io/round_0_index_1"] ==
          Mutation("removeLabel", true));
    const auto second = request.Annotated()["mutation.webhook.admission.k8s.io/round_1_index_0"];
    CHECK(second == (again ? Mutation("addLabel", false) : ""));
  }
}

TEST_CASE("webhook: a webhook of another version gets and changes that version", "[admission]") {
  Webhook webhook = Mutating(WebhookAt("alpha", "alpha"));
  webhook.rules[0].api_versions = {"v1alpha1"};
  Webhooks webhooks({webhook});
  webhooks.servers.Answer("/alpha",
                          PatchResponse(R"([{"op":"replace","path":"/spec/length","value":9}])"));
  const WidgetVersions versions;
  WidgetRequest request;
  request.object.Edit("spec", "size") = 4;
  admission::Attributes attributes = request.Attributes();
  attributes.equivalents = &versions;
  CHECK(webhooks.Run(request, attributes).ok());
  CHECK(request.object["spec"]["size"].AsInt() == 9);
  CHECK(request.object.version() == "v1");
  const auto sent = webhooks.servers.requests();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].body.find(R"("apiVersion":"example.com/v1alpha1")") != std::string::npos);
  CHECK(sent[0].body.find(R"("spec":{"length":4})") != std::string::npos);
}

TEST_CASE("webhook: a patch cannot change what the object is, nor a deletion", "[admission]") {
  Webhooks webhooks({Mutating(WebhookAt("kinds", "kinds"))});
  webhooks.servers.Answer("/kinds",
                          PatchResponse(R"([{"op":"replace","path":"/kind","value":"X"}])"));
  WidgetRequest request;
  CHECK(
      webhooks.Run(request).message() ==
      "Internal error occurred: admission webhook \"kinds\" sent a patch that cannot be used: the "
      "patch must not change kind and apiVersion");
  admission::Attributes deletion = request.Attributes();
  deletion.operation = admission::Operation::kDelete;
  deletion.object = nullptr;
  deletion.editable = nullptr;
  CHECK(webhooks.Run(request, deletion).message() ==
        "Internal error occurred: admission webhook \"kinds\" attempted to modify the object, "
        "which is not supported for this operation");
}

TEST_CASE("webhook: a patch that does not apply is told with its webhook and why", "[admission]") {
  Webhooks webhooks({Mutating(WebhookAt("nope.example.com", "nope"))});
  webhooks.servers.Answer("/nope", PatchResponse(R"([{"op":"remove","path":"/nope"}])"));
  WidgetRequest request;

  const Status refused = webhooks.Run(request);

  CHECK(refused.code() == 500);
  CHECK(
      refused.message() ==
      "Internal error occurred: admission webhook \"nope.example.com\" sent a patch that cannot be "
      "used: error in remove for path: '/nope': Unable to remove nonexistent key: nope: missing "
      "value");
}

TEST_CASE("webhook: what a patch adds is pruned, typed and defaulted as a body", "[admission]") {
  Webhooks webhooks({Mutating(WebhookAt("lies", "lies"))});
  webhooks.servers.Answer(
      "/lies", PatchResponse(R"([{"op":"add","path":"/spec","value":{"size":5,"unknown":1}}])"));
  WidgetRequest request;
  CHECK(webhooks.Run(request).ok());
  std::string spec;
  codec::AppendJson(request.object["spec"], spec);
  CHECK(spec == R"({"size":5})");
  webhooks.servers.Answer("/lies",
                          PatchResponse(R"([{"op":"add","path":"/spec","value":{"size":"big"}}])"));
  CHECK(webhooks.Run(request).message().starts_with(
      "Internal error occurred: admission webhook \"lies\" sent a patch that cannot be used: json: "
      "cannot unmarshal string into Go struct field"));
}

TEST_CASE("webhook: warnings reach the client", "[admission]") {
  Webhooks webhooks({WebhookAt("warn", "warn")});
  webhooks.servers.Answer("/warn", R"("allowed":true,"warnings":["mind the gap","and the door"])");
  WidgetRequest request;
  CHECK(webhooks.Run(request).ok());
  CHECK(request.warnings->Take() == std::vector<std::string>{"mind the gap", "and the door"});
}

// exclusion_test.go
TEST_CASE("webhook: webhooks are not asked about themselves and about reviews", "[admission]") {
  Webhooks webhooks({WebhookAt("no", "disallow"), Mutating(WebhookAt("no", "disallow"))});
  WidgetRequest request;
  admission::Attributes attributes = request.Attributes();
  for (const char* kind : {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration",
                           "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
                           "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"}) {
    INFO(kind);
    attributes.kind = {"admissionregistration.k8s.io", "v1", kind};
    CHECK(webhooks.Run(request, attributes).ok());
  }
  attributes = request.Attributes();
  attributes.resource = {"authorization.k8s.io", "v1", "selfsubjectaccessreviews"};
  CHECK(webhooks.Run(request, attributes).ok());
  attributes.resource = {"authentication.k8s.io", "v1", "tokenreviews"};
  CHECK(webhooks.Run(request, attributes).ok());
  CHECK(webhooks.servers.requests().empty());
  CHECK(webhooks.Run(request).code() == 403);
}
