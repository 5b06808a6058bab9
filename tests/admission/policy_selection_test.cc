// The requests, bindings and parameters of a policy: plugin/policy/matching and
// plugin/policy/generic.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "admission/policy/caching_authorizer.h"
#include "policy_fixture.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.

namespace {

policy::MatchResources Match(std::vector<policy::NamedRule> rules) {
  return {.resource_rules = std::move(rules)};
}

// The version as which the request is matched; empty: it is not, or the error.
std::string MatchedAs(const policy::MatchResources& match,
                      const admission::Attributes& attributes) {
  const auto matched = policy::ResourceMatcher(nullptr).Match(Context::Background(), match,
                                                              attributes, attributes.object);
  if (!matched.ok()) return "error: " + std::string(matched.status().message());
  return *matched ? (*matched)->resource.version : "";
}

policy::NamedRule VersionRule(const std::string& version) {
  policy::NamedRule rule = WidgetRule();
  rule.rule.api_versions = {version};
  return rule;
}

std::string Collected(const policy::ParamKind* kind, const policy::ParamRef* ref,
                      const policy::ParamSource* source, const std::string& ns) {
  const auto params = policy::CollectParams(kind, ref, source, ns);
  if (!params.ok()) return std::string(params.status().message());
  std::string names;
  for (const auto& param : *params) {
    names += (names.empty() ? "" : " ") + (param ? std::string(param->name()) : "null");
  }
  return names;
}

}  // namespace

// matching_test.go TestMatcher
TEST_CASE("policy: rules choose requests, and other versions if they may", "[admission]") {
  WidgetRequest request;
  const WidgetVersions versions;
  admission::Attributes attributes = request.Attributes();
  CHECK(MatchedAs(Match({}), attributes) == "v1");
  CHECK(MatchedAs(Match({VersionRule("v1")}), attributes) == "v1");
  CHECK(MatchedAs(Match({VersionRule("v1alpha1")}), attributes).empty());
  attributes.equivalents = &versions;
  CHECK(MatchedAs(Match({VersionRule("v1alpha1")}), attributes) == "v1alpha1");
  // The requested version is tried with all rules first.
  CHECK(MatchedAs(Match({VersionRule("v1alpha1"), VersionRule("v1")}), attributes) == "v1");
  policy::MatchResources exact = Match({VersionRule("v1alpha1")});
  exact.equivalent = false;
  CHECK(MatchedAs(exact, attributes).empty());
}

TEST_CASE("policy: rules may name objects", "[admission]") {
  WidgetRequest request;
  admission::Attributes attributes = request.Attributes();
  policy::NamedRule rule = WidgetRule();
  rule.resource_names = {"other", "my-widget"};
  CHECK(MatchedAs(Match({rule}), attributes) == "v1");
  rule.resource_names = {"other"};
  CHECK(MatchedAs(Match({rule}), attributes).empty());
  // The second rule may match although the first does not.
  CHECK(MatchedAs(Match({rule, WidgetRule()}), attributes) == "v1");
  policy::NamedRule mine = WidgetRule();
  mine.resource_names = {"my-widget"};
  attributes.name = "";
  CHECK(MatchedAs(Match({mine}), attributes).empty());
}

TEST_CASE("policy: exclude rules take precedence", "[admission]") {
  WidgetRequest request;
  const WidgetVersions versions;
  admission::Attributes attributes = request.Attributes();
  policy::MatchResources match = Match({WidgetRule()});
  match.exclude_resource_rules = {VersionRule("v1alpha1")};
  CHECK(MatchedAs(match, attributes) == "v1");
  attributes.equivalents = &versions;
  CHECK(MatchedAs(match, attributes).empty());
  match.exclude_resource_rules[0].resource_names = {"other"};
  CHECK(MatchedAs(match, attributes) == "v1");
}

TEST_CASE("policy: a malformed selector matters only to requests of the rules", "[admission]") {
  WidgetRequest request;
  const admission::Attributes attributes = request.Attributes();
  policy::MatchResources match = Match({VersionRule("v2")});
  match.object_selector = Status(Reason::kInvalid, "bad selector");
  CHECK(MatchedAs(match, attributes).empty());
  match.resource_rules = {WidgetRule()};
  CHECK(MatchedAs(match, attributes) == "error: Internal error occurred: bad selector");
  match.object_selector = Selector("widget.name=other");
  CHECK(MatchedAs(match, attributes).empty());
}

TEST_CASE("policy: what defaults should have set is an error", "[admission]") {
  runtime::Arena arena;
  const auto read = [&arena](const char* json) {
    return policy::MatchResourcesOf(codec::ParseJson(json, arena).value(), /*required=*/true)
        .incomplete;
  };
  CHECK(policy::MatchResourcesOf({}, true).incomplete ==
        "policy contained no match constraints, a required field");
  CHECK(policy::MatchResourcesOf({}, false).incomplete.empty());
  CHECK(read(R"({"objectSelector":{}})") ==
        "a nil namespace selector was passed, please ensure selectors are initialized properly");
  CHECK(read(R"({"namespaceSelector":{}})") ==
        "a nil object selector was passed, please ensure selectors are initialized properly");
  CHECK(read(R"({"namespaceSelector":{},"objectSelector":{}})").empty());
}

// policy_dispatcher.go CollectParams, plugin_test.go
TEST_CASE("policy: parameters are found by name or selector", "[admission]") {
  const policy::ParamKind kind{"rules.example.com/v1", "Limit"};
  const FakeParams source(
      true, {Param("ns", "a", "x"), Param("ns", "b", "x"), Param("ns", "c"), Param("other", "a")});
  policy::ParamRef ref{.name = "a"};
  CHECK(Collected(nullptr, &ref, nullptr, "ns") == "null");
  CHECK(Collected(&kind, nullptr, &source, "ns") == "null");
  CHECK(Collected(&kind, &ref, &source, "ns") == "a");
  ref.namespace_ = "other";
  CHECK(Collected(&kind, &ref, &source, "ns") == "a");
  CHECK(Collected(&kind, &ref, &source, "") == "a");
  ref = {.selector = Selector("a=x")};
  CHECK(Collected(&kind, &ref, &source, "ns") == "a b");
  ref = {.selector = meta::LabelSelector()};
  CHECK(Collected(&kind, &ref, &source, "ns") == "a b c");
  // Nothing found is no error unless the binding says so.
  ref = {.name = "none"};
  CHECK(Collected(&kind, &ref, &source, "ns").empty());
  ref.deny_if_not_found = true;
  CHECK(Collected(&kind, &ref, &source, "ns") ==
        "no params found for policy binding with `Deny` parameterNotFoundAction");
}

TEST_CASE("policy: parameters that cannot be looked up are errors", "[admission]") {
  const policy::ParamKind kind{"rules.example.com/v1", "Limit"};
  const FakeParams namespaced(true, {Param("ns", "a")});
  const FakeParams cluster(false, {Param("", "a")});
  policy::ParamRef ref{.name = "a"};
  CHECK(Collected(&kind, &ref, nullptr, "ns") ==
        "paramKind kind `&ParamKind{APIVersion:rules.example.com/v1,Kind:Limit,}` not known");
  CHECK(Collected(&kind, &ref, &namespaced, "") ==
        "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources");
  CHECK(Collected(&kind, &ref, &cluster, "ns") == "a");
  ref.namespace_ = "ns";
  CHECK(Collected(&kind, &ref, &cluster, "ns") ==
        "paramRef.namespace must not be provided for a cluster-scoped `paramKind`");
  const FakeParams unsynced(true, {}, /*synced=*/false);
  CHECK(
      Collected(&kind, &ref, &unsynced, "ns") ==
      "paramKind kind `&ParamKind{APIVersion:rules.example.com/v1,Kind:Limit,}` not yet synced to "
      "use for admission");
  ref.selector = Selector("a=b");
  CHECK(Collected(&kind, &ref, &namespaced, "ns") ==
        "paramRef.name and paramRef.selector are mutually exclusive");
  ref = {};
  CHECK(Collected(&kind, &ref, &namespaced, "ns") == "one of name or selector must be provided");
}

TEST_CASE("policy: a policy is evaluated once for each parameter", "[admission]") {
  std::vector<std::string> seen;
  const Expression look = [&seen](const policy::Variables& variables) {
    seen.push_back(JsonOf(variables.params["kind"]) + " " + JsonOf(variables.params["apiVersion"]) +
                   " " + JsonOf(variables.params["metadata"]["name"]));
    return Evaluated{.kind = Evaluated::Kind::kBool, .truth = true};
  };
  auto made = std::make_shared<policy::Policy>(*PolicyParts{.validations = {{look, {}}}}.Make());
  made->param_kind = {"rules.example.com/v1", "Limit"};
  auto binding = std::make_shared<policy::Binding>(*Bind("b", {"Deny"}));
  binding->param_ref =
      std::make_shared<const policy::ParamRef>(policy::ParamRef{.selector = Selector("a=x")});
  const auto source = std::make_shared<FakeParams>(
      true, std::vector{Param("webhook-test", "a", "x"), Param("webhook-test", "b", "x")});
  const ValidatingPolicies policies({{.policy = made, .bindings = {binding}, .params = source}});
  WidgetRequest request;
  CHECK(policies.Run(request).ok());
  CHECK(seen == std::vector<std::string>{R"("Limit" "rules.example.com/v1" "a")",
                                         R"("Limit" "rules.example.com/v1" "b")"});
}

TEST_CASE("policy: errors of configuration refuse whatever the actions are", "[admission]") {
  PolicyParts parts{.validations = {{True(), {}}}};
  const auto answer = [&parts](const std::string& error, const policy::ParamRef* ref) {
    auto made = std::make_shared<policy::Policy>(*parts.Make());
    made->param_kind = {"v1", "Limit"};
    auto binding = std::make_shared<policy::Binding>(*Bind("b", {"Audit"}));
    if (ref) binding->param_ref = std::make_shared<const policy::ParamRef>(*ref);
    const ValidatingPolicies policies(
        {{.policy = made, .bindings = {binding}, .configuration_error = error}});
    WidgetRequest request;
    const Status status = policies.Run(request);
    if (!status.ok()) CHECK(status.code() == 422);
    return std::string(status.message());
  };
  const std::string about = "widgets.example.com \"my-widget\" is forbidden: ";
  const policy::ParamRef ref{.name = "a"};
  CHECK(answer("failed to find resource referenced by paramKind: '/v1, Kind=Limit'", nullptr) ==
        about +
            "ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: failed to "
            "find resource referenced by paramKind: '/v1, Kind=Limit'");
  CHECK(answer("", &ref) == about +
                                "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: "
                                "failed to configure binding: paramKind kind "
                                "`&ParamKind{APIVersion:v1,Kind:Limit,}` not known");
  parts.fail_open = true;
  CHECK(answer("any", nullptr).empty());
  CHECK(answer("", &ref).empty());
}

TEST_CASE("policy: bindings restrict what their policy matches", "[admission]") {
  PolicyParts parts{.validations = {{False(), {.message = "no"}}}};
  auto binding = std::make_shared<policy::Binding>(*Bind("b", {"Deny"}));
  binding->match = std::make_shared<const policy::MatchResources>(
      policy::MatchResources{.object_selector = Selector("widget.name=other")});
  const ValidatingPolicies policies({{.policy = parts.Make(), .bindings = {binding}}});
  WidgetRequest request;
  CHECK(policies.Run(request).ok());
  request.object.Edit("metadata", "labels", "widget.name") = "other";
  CHECK_FALSE(policies.Run(request).ok());
}

TEST_CASE("policy: other versions are converted to the one of the rule", "[admission]") {
  std::string seen;
  const Expression look = [&seen](const policy::Variables& variables) {
    seen = JsonOf(variables.object["apiVersion"]) + " " + JsonOf(variables.object["spec"]) + " " +
           JsonOf(variables.request.Get()["resource"]["version"]) + " " +
           JsonOf(variables.request.Get()["requestResource"]["version"]);
    return Evaluated{.kind = Evaluated::Kind::kBool, .truth = true};
  };
  PolicyParts parts{.match = Match({VersionRule("v1alpha1")}), .validations = {{look, {}}}};
  const ValidatingPolicies policies({{.policy = parts.Make(), .bindings = {Bind("b", {"Deny"})}}});
  WidgetRequest request;
  request.object.Edit("spec", "size") = 3;
  const WidgetVersions versions;
  admission::Attributes attributes = request.Attributes();
  attributes.equivalents = &versions;
  CHECK(policies.chain->Validate(request.ctx, attributes).ok());
  CHECK(seen == R"("example.com/v1alpha1" {"length":3} "v1alpha1" "v1")");
}

TEST_CASE("policy: candidates are found by resource and operation", "[admission]") {
  const auto hook = [](const std::string& name, const std::string& operation,
                       const std::string& group, const std::string& resource) {
    PolicyParts parts{.name = name};
    parts.match.resource_rules = {{.rule = {.operations = {operation},
                                            .api_groups = {group},
                                            .api_versions = {"*"},
                                            .resources = {resource}}}};
    return policy::Hook{.policy = parts.Make()};
  };
  PolicyParts everything{.name = "e"};
  everything.match.resource_rules = {};
  const policy::Snapshot snapshot(
      {hook("a", "*", "example.com", "widgets"), hook("b", "CREATE", "example.com", "widgets"),
       hook("c", "*", "example.com", "widgets/status"), hook("d", "*", "*", "*/*"),
       policy::Hook{.policy = everything.Make()}, hook("f", "UPDATE", "example.com", "gadgets"),
       hook("g", "*", "", "widgets")});
  WidgetRequest request;
  const auto names = [&](admission::Operation operation, const std::string& resource) {
    admission::Attributes attributes = request.Attributes();
    attributes.operation = operation;
    attributes.resource.resource = resource;
    std::string found;
    for (const std::uint32_t i : snapshot.Candidates(attributes)) {
      found += snapshot.hooks()[i].policy->name;
    }
    return found;
  };
  using admission::Operation;
  CHECK(names(Operation::kCreate, "widgets") == "abcde");
  CHECK(names(Operation::kUpdate, "widgets") == "acde");
  CHECK(names(Operation::kUpdate, "gadgets") == "def");
  CHECK(names(Operation::kDelete, "gadgets") == "de");
}

TEST_CASE("policy: a selector of a missing label is no candidate", "[admission]") {
  const auto hook = [](const std::string& name, const std::string& selector) {
    PolicyParts parts{.name = name, .match = Match({WidgetRule()})};
    parts.match.object_selector = meta::LabelSelector::Parse(selector);
    return policy::Hook{.policy = parts.Make()};
  };
  const policy::Snapshot snapshot({hook("a", "team=x"), hook("b", "team in (y)"),
                                   hook("c", "team in (y,z)"), hook("d", "team!=x"),
                                   hook("e", "tier=x"), hook("f", "team=x,tier=front"),
                                   hook("g", "team"), hook("h", ""), hook("i", "=")});
  WidgetRequest request;
  request.object.Edit("metadata", "labels", "team") = "x";
  admission::Attributes attributes = request.Attributes();
  const auto names = [&](const std::vector<std::uint32_t>& candidates) {
    std::string found;
    for (const std::uint32_t i : candidates) found += snapshot.hooks()[i].policy->name;
    return found;
  };
  // The selectors decide about the others.
  CHECK(names(snapshot.CandidatesByLabels(attributes)) == "acdfghi");
  // A plugin that changes the object may add labels.
  CHECK(names(snapshot.Candidates(attributes)) == "abcdefghi");
  // The stored state counts as well.
  const std::unique_ptr<runtime::Object> old = request.object.Clone();
  old->Edit("metadata", "labels", "team") = "y";
  attributes.old_object = old.get();
  CHECK(names(snapshot.CandidatesByLabels(attributes)) == "abcdfghi");
  attributes.object = nullptr;
  CHECK(names(snapshot.CandidatesByLabels(attributes)) == "bcdghi");
  attributes.old_object = nullptr;
  CHECK(names(snapshot.CandidatesByLabels(attributes)) == "cdghi");
}

// caching_authorizer_test.go
TEST_CASE("policy: equal checks of one request are made once", "[admission]") {
  class Counting final : public auth::Authorizer {
   public:
    Result<auth::Verdict> Authorize(const Context&, const auth::Attributes& asked) const override {
      ++calls;
      if (asked.verb == "fail") return Status(Reason::kInternalError, "broken");
      if (asked.verb == "wait") return Status(Reason::kWouldBlock, "");
      return auth::Verdict{auth::Decision::kAllow, std::string(asked.verb)};
    }
    mutable int calls = 0;
  };
  const Counting counting;
  const policy::CachingAuthorizer caching(counting);
  const auto ask = [&](const std::string& verb, std::vector<std::string> groups,
                       const std::string& resource = "pods") {
    const auto user = std::make_shared<const auth::UserInfo>(
        auth::UserInfo{.name = "u", .groups = std::move(groups)});
    return caching.Authorize(
        Context::Background(),
        {.user = user, .verb = verb, .resource_request = true, .resource = resource});
  };
  CHECK(ask("get", {"a", "b"})->reason == "get");
  CHECK(ask("get", {"b", "a"})->reason == "get");
  CHECK(counting.calls == 1);
  CHECK(ask("get", {"ab"})->reason == "get");
  CHECK(ask("list", {"a", "b"})->reason == "list");
  CHECK(ask("get", {"a", "b"}, "nodes")->reason == "get");
  CHECK(counting.calls == 4);
  CHECK_FALSE(ask("fail", {}).ok());
  CHECK_FALSE(ask("fail", {}).ok());
  CHECK(counting.calls == 5);
  // An answer that must be waited for is none.
  CHECK_FALSE(ask("wait", {}).ok());
  CHECK_FALSE(ask("wait", {}).ok());
  CHECK(counting.calls == 7);
}
