// plugin/policy/validating: dispatcher.go, validator_test.go.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "policy_fixture.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.

namespace {

policy::Hook HookOf(const PolicyParts& parts, std::vector<std::string> actions = {"Deny"}) {
  return {.policy = parts.Make(), .bindings = {Bind("b", std::move(actions))}};
}

// The message of the answer to an update of a widget.
std::string Answer(const PolicyParts& parts, std::vector<std::string> actions = {"Deny"}) {
  const ValidatingPolicies policies({HookOf(parts, std::move(actions))});
  WidgetRequest request;
  return std::string(policies.Run(request).message());
}

const std::string kRefused =
    "widgets.example.com \"my-widget\" is forbidden: ValidatingAdmissionPolicy 'p' with binding "
    "'b' "
    "denied request: ";

}  // namespace

TEST_CASE("policy: a validation that is false refuses with its reason", "[admission]") {
  struct Case {
    Reason reason;
    int code;
  };
  for (const Case& test : {Case{Reason::kInvalid, 422}, Case{Reason::kForbidden, 403},
                           Case{Reason::kRequestEntityTooLarge, 413}}) {
    const ValidatingPolicies policies(
        {HookOf({.validations = {{True(), {}},
                                 {False(), {.message = " too big ", .reason = test.reason}}}})});
    WidgetRequest request;

    const Status status = policies.Run(request);

    CHECK(status.reason() == test.reason);
    CHECK(status.code() == test.code);
    CHECK(status.message() == kRefused + "too big");
    REQUIRE(status.details() != nullptr);
    CHECK(status.details()->name == "my-widget");
    CHECK(status.details()->kind == "widgets");
    REQUIRE(status.details()->causes.size() == 1);
    CHECK(status.details()->causes[0].message ==
          "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too big");
    CHECK(
        policies.Counted("apiserver_validating_admission_policy_check_total{policy=\"p\",policy_"
                         "binding=\"b\",error_type=\"invalid_error\",enforcement_action=\"deny\"} "
                         "1"));
  }
}

// validator_test.go TestValidate: messages and messageExpressions.
TEST_CASE("policy: a refusal has the best message there is", "[admission]") {
  const auto with = [](Expression message, const std::string& text) {
    return Answer({.validations = {{False(), {.expression = " a > b ", .message = text}}},
                   .messages = {std::move(message)}});
  };
  CHECK(with(Text(" made "), "plain") == kRefused + "made");
  CHECK(with(Absent(), "plain") == kRefused + "plain");
  CHECK(with(Absent(), "") == kRefused + "failed expression: a > b");
  CHECK(with(Text("  "), "plain") == kRefused + "plain");
  CHECK(with(Text("two\nlines"), "plain") == kRefused + "plain");
  CHECK(with(Text(std::string(5121, 'x')), "plain") == kRefused + "plain");
  CHECK(with(Text(std::string(5120, 'x')), "plain") == kRefused + std::string(5120, 'x'));
  CHECK(with(Error("no such key: x"), "plain") == kRefused + "plain");
  CHECK(with(Always({.kind = Evaluated::Kind::kNull}), "plain") == kRefused + "plain");
}

TEST_CASE("policy: failurePolicy decides about errors", "[admission]") {
  PolicyParts parts{.validations = {{Error("expression 'x' resulted in error: y"), {}}}};
  CHECK(Answer(parts) == kRefused + "expression 'x' resulted in error: y");
  parts.fail_open = true;
  CHECK(Answer(parts).empty());
  // A validation that is false is refused all the same.
  parts.validations.push_back({False(), {.message = "no"}});
  CHECK(Answer(parts) == kRefused + "no");
}

TEST_CASE("policy: running out of budget is an error of the whole policy", "[admission]") {
  const auto answer = [](bool fail_open, policy::ExpressionListPtr expressions,
                         policy::ExpressionListPtr messages) {
    policy::ValidatorParts parts{.validations = {{.message = "no"}},
                                 .expressions = std::move(expressions),
                                 .messages = std::move(messages),
                                 .audit_annotations = List({}),
                                 .fail_open = fail_open};
    const policy::Validator validator(std::move(parts));
    WidgetRequest request;
    const admission::Attributes attributes = request.Attributes();
    return validator.Validate(request.ctx, {.attributes = &attributes}, nullptr);
  };
  const auto failed = [](EvaluatedList::Failure failure) {
    return std::make_shared<FailedExpressions>(EvaluatedList{
        .failure = failure,
        .message = "validation failed due to running out of cost budget, no further validation "
                   "rules will be run"});
  };
  const auto out = failed(EvaluatedList::Failure::kOutOfBudget);
  const auto all = answer(false, out, List({}));
  REQUIRE(all.decisions.size() == 1);
  CHECK(all.decisions[0].action == policy::Decision::Action::kDeny);
  CHECK(all.decisions[0].ErrorType() == "out_of_budget");
  CHECK(answer(true, out, List({})).decisions[0].action == policy::Decision::Action::kAdmit);
  const auto message = answer(false, List({False()}), out);
  REQUIRE(message.decisions.size() == 1);
  CHECK(message.decisions[0].evaluation == policy::Decision::Evaluation::kError);
  CHECK(message.decisions[0].message ==
        "failed messageExpression: validation failed due to running out of cost budget, no further "
        "validation rules will be run");
}

TEST_CASE("policy: Warn warns and Audit annotates, and neither refuses", "[admission]") {
  const ValidatingPolicies policies({HookOf(
      {.validations = {{True(), {}}, {False(), {.message = "a <b>"}}, {False(), {.message = "c"}}}},
      {"Warn", "Audit"})});
  WidgetRequest request;

  CHECK(policies.Run(request).ok());

  CHECK(request.warnings->Take() ==
        std::vector<std::string>{
            "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': a <b>",
            "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': c"});
  // The first failure is kept.
  CHECK(request.Annotated() ==
        std::map<std::string, std::string>{
            {"validation.policy.admission.k8s.io/validation_failure",
             R"([{"message":"a \u003cb\u003e","policy":"p","binding":"b","expressionIndex":1,)"
             R"("validationActions":["Warn","Audit"]}])"}});
  CHECK(policies.Counted("enforcement_action=\"warn\"} 2"));
  CHECK(policies.Counted("enforcement_action=\"audit\"} 2"));
}

TEST_CASE("policy: audit annotations of all bindings are joined", "[admission]") {
  int turn = 0;
  const Expression counting = [&turn](const policy::Variables&) {
    // Two bindings of three have the same value.
    const char* const values[] = {" x ", "y", "x"};
    return Evaluated{.kind = Evaluated::Kind::kString, .text = values[turn++ % 3]};
  };
  const PolicyParts parts{.annotations = {{"joined", counting},
                                          {"empty", Text(" ")},
                                          {"null", Always({.kind = Evaluated::Kind::kNull})},
                                          {"long", Text(std::string(10241, 'x'))}}};
  policy::Hook hook = HookOf(parts);
  hook.bindings = {Bind("a", {"Deny"}), Bind("b", {"Deny"}), Bind("c", {"Deny"})};
  const ValidatingPolicies policies({hook});
  WidgetRequest request;
  CHECK(policies.Run(request).ok());
  CHECK(request.Annotated() == std::map<std::string, std::string>{
                                   {"p/joined", "x, y"}, {"p/long", std::string(10240, 'x')}});
}

TEST_CASE("policy: an audit annotation that fails refuses under Fail", "[admission]") {
  PolicyParts parts{.annotations = {{"k", Error("expression 'k' resulted in error: e")}}};
  CHECK(Answer(parts, {"Audit"}) == kRefused + "expression 'k' resulted in error: e");
  parts.fail_open = true;
  CHECK(Answer(parts, {"Deny"}).empty());
  parts.annotations = {{"k", Always({.kind = Evaluated::Kind::kOther, .text = "int"})}};
  CHECK(Answer(parts, {"Audit"}) ==
        kRefused +
            "valueExpression 'text of k' resulted in unsupported return type: int. Return "
            "type must be either string or null.");
}

// matchconditions/matcher_test.go
TEST_CASE("policy: a match condition that is false skips the policy", "[admission]") {
  PolicyParts parts{.validations = {{False(), {.message = "no"}}}};
  const auto with = [&parts](std::vector<Expression> conditions) {
    parts.conditions = std::move(conditions);
    return Answer(parts);
  };
  CHECK(with({True()}) == kRefused + "no");
  CHECK(with({True(), False()}).empty());
  // False wins over errors, wherever they stand.
  CHECK(with({Error("e"), False()}).empty());
  CHECK(with({Error("e1"), True()}) == kRefused + "e1");
  CHECK(with({Error("e1"), Error("e2"), Error("e1")}) == kRefused + "[e1, e2]");
  parts.fail_open = true;
  CHECK(with({Error("e1"), True()}).empty());
}

TEST_CASE("policy: match conditions are counted", "[admission]") {
  const ValidatingPolicies policies(
      {HookOf({.conditions = {Error("e")}, .validations = {{True(), {}}}})});
  WidgetRequest request;
  CHECK_FALSE(policies.Run(request).ok());
  const std::string labels =
      "{name=\"p\",kind=\"policy\",type=\"validate\",operation=\"UPDATE\"} 1";
  CHECK(policies.Counted("apiserver_admission_match_condition_evaluation_errors_total" + labels));
  CHECK(policies.Counted("apiserver_admission_match_condition_evaluation_seconds_count" + labels));
}

TEST_CASE("policy: only the first refusal is told, in the order of names", "[admission]") {
  PolicyParts second{.name = "q", .validations = {{False(), {.message = "second"}}}};
  PolicyParts first{.validations = {{False(), {.message = "first"}}}};
  const ValidatingPolicies policies({HookOf(second), HookOf(first)});
  WidgetRequest request;
  CHECK(policies.Run(request).message() == kRefused + "first");
}

TEST_CASE("policy: expressions see the request and its objects", "[admission]") {
  std::vector<std::string> seen;
  const Expression look = [&seen](const policy::Variables& variables) {
    seen = {JsonOf(variables.object["kind"]),
            JsonOf(variables.object["apiVersion"]),
            JsonOf(variables.object["metadata"]["name"]),
            JsonOf(variables.old_object["kind"]),
            JsonOf(variables.request.Get()["kind"]),
            JsonOf(variables.request.Get()["name"]),
            JsonOf(variables.request.Get()["dryRun"]),
            JsonOf(variables.request.Get()["userInfo"]),
            JsonOf(variables.namespace_object.Get()),
            JsonOf(variables.params),
            variables.authorizer == nullptr ? "no authorizer" : "authorizer"};
    return Evaluated{.kind = Evaluated::Kind::kBool, .truth = true};
  };
  const ValidatingPolicies policies({HookOf({.validations = {{look, {}}}})});
  WidgetRequest request;
  CHECK(policies.Run(request).ok());
  CHECK(seen == std::vector<std::string>{
                    R"("Widget")", R"("example.com/v1")", R"("my-widget")", R"("Widget")",
                    R"({"group":"example.com","version":"v1","kind":"Widget"})", R"("my-widget")",
                    "false", R"({"username":"webhook-test","uid":"webhook-test"})",
                    R"({"metadata":{"name":"webhook-test","labels":{"kubernetes.io/metadata.name":)"
                    R"("webhook-test"}},"spec":{},"status":{}})",
                    "null", "no authorizer"});
}

TEST_CASE("policy: policies and reviews are never intercepted", "[admission]") {
  PolicyParts parts{.validations = {{False(), {.message = "no"}}}};
  parts.match.resource_rules = {};
  const ValidatingPolicies policies({HookOf(parts)});
  const auto ok = [&](const std::string& group, const std::string& resource) {
    WidgetRequest request;
    admission::Attributes attributes = request.Attributes();
    attributes.resource = {group, "v1", resource};
    return policies.chain->Validate(request.ctx, attributes).ok();
  };
  for (const char* resource : {"validatingadmissionpolicies", "validatingadmissionpolicybindings",
                               "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}) {
    CHECK(ok("admissionregistration.k8s.io", resource));
  }
  CHECK(ok("authorization.k8s.io", "subjectaccessreviews"));
  CHECK(ok("authentication.k8s.io", "tokenreviews"));
  // Unlike webhooks, policies intercept the configurations of webhooks.
  CHECK_FALSE(ok("admissionregistration.k8s.io", "validatingwebhookconfigurations"));
  CHECK_FALSE(ok("example.com", "widgets"));
}

TEST_CASE("policy: requests wait until policies are known, and are refused then", "[admission]") {
  class Unready final : public admission::Policies {
   public:
    void Start(std::shared_ptr<client::Client>) override {}
    void Stop() override {}
    bool WaitForSync(std::chrono::milliseconds timeout) const override {
      CHECK(timeout == std::chrono::seconds(10));
      return false;
    }
    std::shared_ptr<const policy::Snapshot> Get() const override { return nullptr; }
    Result<runtime::GroupVersionResource> ResourceFor(
        const Context&, const runtime::GroupVersionKind&) const override {
      return Status(Reason::kServiceUnavailable, "");
    }
  };
  const auto plugin =
      admission::NewValidatingPolicyAdmission({.policies = std::make_shared<Unready>()});
  WidgetRequest request;
  const Status status = plugin->Validate(request.ctx, request.Attributes());
  CHECK(status.code() == 403);
  CHECK(status.message() ==
        "widgets.example.com \"my-widget\" is forbidden: not yet ready to handle request");
}
