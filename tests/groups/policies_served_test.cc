// A whole server with policies as objects of its own. Expressions are of a small language of this
// test: "true", "false", "small" (spec.size is below 5), "fits" (it is at most params.spec.size).
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "admission/policy/source.h"
#include "apiserver/admission/policy.h"
#include "apiserver/base/sync.h"
#include "apiserver/codec/json.h"
#include "apiserver/storage/memory/engine.h"
#include "groups/admissionregistration/policy_install.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::Widget;

namespace {

namespace policy = admission::policy;
namespace group = groups::admissionregistration;
using policy::Evaluated;
using policy::EvaluatedList;

// Evaluates expressions of the test's language.
class SmallExpressions final : public policy::ExpressionList {
 public:
  explicit SmallExpressions(std::vector<std::string> texts) : texts_(std::move(texts)) {}
  EvaluatedList Evaluate(const Context&, const policy::Variables& variables,
                         std::int64_t budget) const override {
    EvaluatedList list{.remaining = budget};
    for (const std::string& text : texts_) list.results.push_back(One(text, variables));
    return list;
  }

 private:
  static Evaluated One(const std::string& text, const policy::Variables& variables) {
    if (text.empty()) return {};
    const std::int64_t size = variables.object["spec"]["size"].AsInt();
    const bool truth = text == "true" || (text == "small" && size < 5) ||
                       (text == "fits" && size <= variables.params["spec"]["size"].AsInt());
    return {.kind = Evaluated::Kind::kBool, .truth = truth};
  }
  const std::vector<std::string> texts_;
};

std::shared_ptr<const policy::Validator> CompiledPolicy(const runtime::Object& object) {
  policy::ValidatorParts parts;
  std::vector<std::string> texts;
  for (const runtime::Value& validation : object["spec"]["validations"].items()) {
    texts.emplace_back(validation["expression"].AsString());
    parts.validations.push_back(
        {.expression = texts.back(), .message = std::string(validation["message"].AsString())});
  }
  parts.messages = std::make_shared<SmallExpressions>(std::vector<std::string>(texts.size(), ""));
  parts.expressions = std::make_shared<SmallExpressions>(std::move(texts));
  parts.audit_annotations = std::make_shared<SmallExpressions>(std::vector<std::string>());
  return std::make_shared<policy::Validator>(std::move(parts));
}

// A policy whose mutations paint the object.
class Paint final : public policy::Mutation {
 public:
  Result<std::unique_ptr<runtime::Object>> Apply(const Context&, const policy::Variables&,
                                                 const runtime::Object& object) const override {
    auto changed = object.Clone();
    changed->Edit("spec", "color") = "blue";
    return changed;
  }
};
std::shared_ptr<const policy::Mutator> Painter(const runtime::Object&) {
  return std::make_shared<policy::Mutator>(
      policy::Mutator{policy::MatchConditions({}), {std::make_shared<Paint>()}});
}

// Knows the words of the language.
class SmallChecker final : public policy::ExpressionChecker {
 public:
  void Check(const policy::Expression& expression, const field::Path& path,
             field::ErrorList& errors) override {
    for (const char* word : {"true", "false", "small", "fits", "Object{}"}) {
      if (expression.text == word) return;
    }
    errors.Invalid(path, expression.bad_value, "compilation failed");
  }
};

// Denies what "bob" asks about widgets but to write policies.
class AllButBob final : public auth::Authorizer {
 public:
  Result<auth::Verdict> Authorize(const Context&, const auth::Attributes& asked) const override {
    const bool bob = asked.user->name == "bob" && asked.group != "admissionregistration.k8s.io";
    if (bob) asked_.Lock()->push_back(Printed(asked));
    return auth::Verdict{bob ? auth::Decision::kNoOpinion : auth::Decision::kAllow, ""};
  }
  std::vector<std::string> asked() const { return *asked_.Lock(); }

 private:
  static std::string Printed(const auth::Attributes& asked) {
    return std::string(asked.verb) + " " + std::string(asked.group) + "/" +
           std::string(asked.version) + " " + std::string(asked.resource) + " " +
           std::string(asked.namespace_) + "/" + std::string(asked.name);
  }
  mutable Guarded<std::vector<std::string>> asked_;
};

constexpr char kPolicyGroup[] = "/apis/admissionregistration.k8s.io/v1";
const std::string kValidatingPolicies = std::string(kPolicyGroup) + "/validatingadmissionpolicies";
const std::string kPolicyBindings =
    std::string(kPolicyGroup) + "/validatingadmissionpolicybindings";

std::string PolicyJson(const std::string& expression, const std::string& more = "") {
  return R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingAdmissionPolicy",)"
         R"("metadata":{"name":"p","generation":7},"status":{"observedGeneration":5},"spec":{)" +
         more +
         R"("matchConstraints":{"resourceRules":[{"operations":["*"],"apiGroups":["example.com"],)"
         R"("apiVersions":["*"],"resources":["widgets"]}]},"validations":[{"expression":")" +
         expression + R"(","message":"too big"}]}})";
}
std::string BindingJson(const std::string& more = "", const std::string& name = "b") {
  return R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":)"
         R"("ValidatingAdmissionPolicyBinding","metadata":{"name":")" +
         name + R"("},"spec":{"policyName":"p","validationActions":["Deny"])" + more + "}}";
}
const std::string kWidgetParams = R"("paramKind":{"apiVersion":"example.com/v1","kind":"Widget"},)";
std::string ParamRefJson(const std::string& name, const std::string& action = "Deny") {
  return R"(,"paramRef":{"name":")" + name + R"(","parameterNotFoundAction":")" + action + "\"}";
}

struct PolicyServer {
  PolicyServer() {
    admission::PoliciesOptions options{.retry = std::chrono::milliseconds(200)};
    const auto validating =
        policy::NewFollowedPolicies(options, {.validating = CompiledPolicy, .mutating = nullptr});
    options.type = admission::PolicyType::kMutating;
    const auto mutating =
        policy::NewFollowedPolicies(options, {.validating = nullptr, .mutating = Painter});
    testing::TestServerOptions server_options;
    server_options.engine = engine.get();
    server_options.authorizer = authorizer;
    server_options.admission = {admission::NewMutatingPolicyAdmission({.policies = mutating}),
                                admission::NewValidatingPolicyAdmission({.policies = validating})};
    server_options.install = [=, this](server::GenericAPIServer& api) -> Status {
      const group::PolicyResources resources{
          .storage = {.engine = engine.get(), .executor = &api.pool()},
          .mutating = mutating,
          .validating = validating,
          .v1beta1 = true,
          .authorizer = authorizer,
          .new_checker = [] { return std::make_unique<SmallChecker>(); }};
      return group::InstallPolicies(api, resources);
    };
    server = testing::StartWidgetServer(std::move(server_options));
  }

  http::ClientResponse Call(const std::string& method, const std::string& target,
                            const std::string& body = "", http::Headers headers = {}) const {
    return server->Call(method, target, body, std::move(headers));
  }
  // Creates a widget in a dry run until the answer contains `words`: policies are known within
  // milliseconds, not at once.
  http::ClientResponse Until(const std::string& words, int size) const {
    http::ClientResponse answer;
    const auto deadline = RealClock().Now() + std::chrono::seconds(60);
    do {
      answer = Call("POST", std::string(kWidgets) + "?dryRun=All", Widget("a", size));
    } while (!Contains(answer.body, words) && RealClock().Now() < deadline);
    INFO(answer.body);
    CHECK(Contains(answer.body, words));
    return answer;
  }

  std::shared_ptr<AllButBob> authorizer = std::make_shared<AllButBob>();
  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<testing::TestServer> server;
};

const std::string kDeniedByBinding =
    R"(widgets.example.com \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' )"
    R"(denied request: )";

}  // namespace

TEST_CASE("policies: a policy takes effect when it is bound, and its end too", "[groups]") {
  const PolicyServer served;
  CHECK(served.Call("POST", kValidatingPolicies, PolicyJson("small")).code == 201);
  // Without a binding it has no effect.
  CHECK(served.Call("POST", std::string(kWidgets) + "?dryRun=All", Widget("a", 6)).code == 201);
  CHECK(served.Call("POST", kPolicyBindings, BindingJson()).code == 201);
  CHECK(served.Until(kDeniedByBinding + "too big", 6).code == 422);
  CHECK(served.Until(R"("size":4)", 4).code == 201);
  // A change of the policy is compiled.
  CHECK(served
            .Call("PATCH", kValidatingPolicies + "/p",
                  R"([{"op":"replace","path":"/spec/validations/0/expression","value":"true"}])",
                  {{"Content-Type", "application/json-patch+json"}})
            .code == 200);
  CHECK(served.Until(R"("size":6)", 6).code == 201);
  CHECK(served
            .Call("PATCH", kValidatingPolicies + "/p",
                  R"([{"op":"replace","path":"/spec/validations/0/expression","value":"false"}])",
                  {{"Content-Type", "application/json-patch+json"}})
            .code == 200);
  CHECK(served.Until(kDeniedByBinding + "too big", 4).code == 422);
  // Policies do not intercept their own repair.
  CHECK(served.Call("DELETE", kPolicyBindings + "/b").code == 200);
  CHECK(served.Until(R"("size":6)", 6).code == 201);
}

TEST_CASE("policies: parameters are read from the objects of their kind", "[groups]") {
  const PolicyServer served;
  CHECK(served.Call("POST", kWidgets, Widget("limit", 5)).code == 201);
  CHECK(served.Call("POST", kValidatingPolicies, PolicyJson("fits", kWidgetParams)).code == 201);
  CHECK(served.Call("POST", kPolicyBindings, BindingJson(ParamRefJson("limit"))).code == 201);
  CHECK(served.Until(kDeniedByBinding + "too big", 6).code == 422);
  CHECK(served.Until(R"("size":5)", 5).code == 201);
  // A binding whose parameter is missing fails, or does not apply.
  CHECK(served.Call("DELETE", kPolicyBindings + "/b").code == 200);
  CHECK(served.Call("POST", kPolicyBindings, BindingJson(ParamRefJson("none"))).code == 201);
  CHECK(served
            .Until("failed to configure binding: no params found for policy binding with `Deny` "
                   "parameterNotFoundAction",
                   1)
            .code == 422);
  CHECK(served.Call("DELETE", kPolicyBindings + "/b").code == 200);
  CHECK(served.Call("POST", kPolicyBindings, BindingJson(ParamRefJson("none", "Allow"))).code ==
        201);
  CHECK(served.Until(R"("size":6)", 6).code == 201);
}

TEST_CASE("policies: a paramKind that nothing serves is an error of the policy", "[groups]") {
  const PolicyServer served;
  const std::string params = R"("paramKind":{"apiVersion":"example.com/v1","kind":"Gadget"},)";
  CHECK(served.Call("POST", kValidatingPolicies, PolicyJson("true", params)).code == 201);
  CHECK(served.Call("POST", kPolicyBindings, BindingJson(ParamRefJson("a"))).code == 201);
  CHECK(served
            .Until("ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: "
                   "failed to find resource referenced by paramKind: 'example.com/v1, Kind=Gadget'",
                   1)
            .code == 422);
}

TEST_CASE("policies: a mutating policy changes what is stored", "[groups]") {
  const PolicyServer served;
  const std::string group_path = std::string(kPolicyGroup) + "/";
  const std::string spec =
      R"("spec":{"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":)"
      R"(["example.com"],"apiVersions":["*"],"resources":["widgets"]}]},"mutations":[{"patchType":)"
      R"("ApplyConfiguration","applyConfiguration":{"expression":"Object{}"}}],)"
      R"("reinvocationPolicy":"Never"}})";
  // Written in v1beta1, read in v1.
  const auto created = served.Call(
      "POST", "/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicies",
      R"({"apiVersion":"admissionregistration.k8s.io/v1beta1","kind":"MutatingAdmissionPolicy",)"
      R"("metadata":{"name":"p"},)" +
          spec);
  INFO(created.body);
  CHECK(created.code == 201);
  CHECK(Contains(served.Call("GET", group_path + "mutatingadmissionpolicies/p").body,
                 R"("apiVersion":"admissionregistration.k8s.io/v1")"));
  CHECK(served
            .Call("POST", group_path + "mutatingadmissionpolicybindings",
                  R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":)"
                  R"("MutatingAdmissionPolicyBinding","metadata":{"name":"b"},"spec":)"
                  R"({"policyName":"p"}})")
            .code == 201);
  CHECK(served.Until(R"("color":"blue")", 1).code == 201);
}

// strategy_test.go of pkg/registry/admissionregistration/validatingadmissionpolicy
TEST_CASE("policies: generation counts changes of the spec, the status is apart", "[groups]") {
  const PolicyServer served;
  const auto created = served.Call("POST", kValidatingPolicies, PolicyJson("true"));
  CHECK(Contains(created.body, R"("generation":1)"));
  CHECK_FALSE(Contains(created.body, "observedGeneration"));
  CHECK(Contains(created.body, R"("failurePolicy":"Fail")"));
  CHECK(Contains(created.body, R"("matchPolicy":"Equivalent")"));
  const auto patch = [&](const std::string& target, const std::string& body) {
    return served.Call("PATCH", kValidatingPolicies + target, body,
                       {{"Content-Type", "application/merge-patch+json"}});
  };
  CHECK(Contains(patch("/p", R"({"metadata":{"labels":{"a":"b"}}})").body, R"("generation":1)"));
  CHECK(Contains(patch("/p", R"({"spec":{"failurePolicy":"Ignore"}})").body, R"("generation":2)"));
  const auto ignored = patch("/p", R"({"status":{"observedGeneration":2}})");
  CHECK_FALSE(Contains(ignored.body, "observedGeneration"));
  const auto status =
      patch("/p/status", R"({"spec":{"failurePolicy":"Fail"},"status":{"observedGeneration":2,)"
                         R"("typeChecking":{}}})");
  CHECK(status.code == 200);
  CHECK(Contains(status.body, R"("status":{"observedGeneration":2,"typeChecking":{}})"));
  CHECK(Contains(status.body, R"("failurePolicy":"Ignore")"));
  CHECK(Contains(status.body, R"("generation":2)"));
  const auto bad =
      patch("/p/status", R"({"status":{"typeChecking":{"expressionWarnings":[{"fieldRef":"",)"
                         R"("warning":"x"}]}}})");
  CHECK(bad.code == 422);
  CHECK(Contains(bad.body, "status.typeChecking.expressionWarnings[0].fieldRef: Required value"));
}

TEST_CASE("policies: what does not compile is refused when it is written", "[groups]") {
  const PolicyServer served;
  const auto refused = served.Call("POST", kValidatingPolicies, PolicyJson("unknown"));
  CHECK(refused.code == 422);
  CHECK(Contains(refused.body,
                 R"(ValidatingAdmissionPolicy.admissionregistration.k8s.io \"p\" is invalid: )"
                 R"(spec.validations[0].expression: Invalid value: \"unknown\": compilation )"
                 R"(failed)"));
}

TEST_CASE("policies: a name for manifests is warned about", "[groups]") {
  const PolicyServer served;
  const auto created = served.Call("POST", kPolicyBindings, BindingJson("", "b.static.k8s.io"));
  CHECK(created.code == 201);
  std::string warning;
  for (const auto& [name, value] : created.headers) {
    if (name == "Warning") warning = value;
  }
  CHECK(warning ==
        R"(299 - "metadata.name: names ending with \".static.k8s.io\" are reserved for static )"
        R"(manifest-based configurations and cannot be managed via the API")");
}

// printers_test.go: printValidatingAdmissionPolicy, printValidatingAdmissionPolicyBinding
TEST_CASE("policies: kubectl shows what upstream's columns show", "[groups]") {
  const PolicyServer served;
  CHECK(served.Call("POST", kValidatingPolicies, PolicyJson("fits", kWidgetParams)).code == 201);
  const auto row = [&](const std::string& target) {
    const auto table = served.Call("GET", target, "",
                                   {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
    const std::size_t at = table.body.find(R"("cells":)");
    REQUIRE(at != std::string::npos);
    return table.body.substr(at + 8);
  };
  CHECK(row(kValidatingPolicies).starts_with(R"(["p",1,"example.com/v1/Widget",)"));
  const auto bound = [&](const std::string& ref) {
    CHECK(served.Call("POST", kPolicyBindings, BindingJson(ref)).code == 201);
    const std::string cells = row(kPolicyBindings);
    CHECK(served.Call("DELETE", kPolicyBindings + "/b").code == 200);
    return cells;
  };
  CHECK(bound("").starts_with(R"(["b","p","\u003cunset\u003e",)"));
  CHECK(bound(ParamRefJson("a")).starts_with(R"(["b","p","*/a",)"));
  CHECK(bound(R"(,"paramRef":{"name":"a","namespace":"n","parameterNotFoundAction":"Deny"})")
            .starts_with(R"(["b","p","n/a",)"));
  CHECK(bound(R"(,"paramRef":{"selector":{"matchLabels":{"a":"b"}},"parameterNotFoundAction":)"
              R"("Deny"})")
            .starts_with(R"(["b","p","\u0026LabelSelector{MatchLabels:map[string]string{a: b,},)"
                         R"(MatchExpressions:[])"));
}

// authz_test.go of pkg/registry/admissionregistration/*
TEST_CASE("policies: a writer needs the right to read the parameters", "[groups]") {
  const PolicyServer served;
  const http::Headers bob{{"Impersonate-User", "bob"}, {"Impersonate-Group", "devs"}};
  const std::string user = R"(user \u0026{bob  [devs system:authenticated] map[]})";
  const auto refused =
      served.Call("POST", kValidatingPolicies, PolicyJson("fits", kWidgetParams), bob);
  CHECK(refused.code == 422);
  CHECK(Contains(refused.body, "spec.paramKind: Forbidden: " + user +
                                   R"( must have \"get\" permission on all objects of the )"
                                   R"(referenced paramKind (kind=Widget, )"
                                   R"(apiVersion=example.com/v1))"));
  CHECK(served.authorizer->asked() == std::vector<std::string>{"get example.com/v1 widgets */*"});
  CHECK(served.Call("POST", kValidatingPolicies, PolicyJson("fits", kWidgetParams)).code == 201);
  // An update that keeps the paramKind needs no right.
  CHECK(served
            .Call("PATCH", kValidatingPolicies + "/p", R"({"spec":{"failurePolicy":"Ignore"}})",
                  {{"Content-Type", "application/merge-patch+json"}, {"Impersonate-User", "bob"}})
            .code == 200);
  const auto binding = served.Call("POST", kPolicyBindings, BindingJson(ParamRefJson("a")), bob);
  CHECK(binding.code == 422);
  CHECK(Contains(binding.body, "spec.paramRef: Forbidden: " + user +
                                   R"( does not have \"get\" permission on the object referenced )"
                                   R"(by paramRef)"));
  CHECK(served.Call("POST", kPolicyBindings, BindingJson(), bob).code == 201);
}

TEST_CASE("policies: discovery lists the policies with their status", "[groups]") {
  const PolicyServer served;
  const auto v1 = served.Call("GET", kPolicyGroup);
  for (const char* name : {"mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
                           "validatingadmissionpolicies", "validatingadmissionpolicies/status",
                           "validatingadmissionpolicybindings"}) {
    CHECK(Contains(v1.body, R"("name":")" + std::string(name) + "\""));
  }
  const auto beta = served.Call("GET", "/apis/admissionregistration.k8s.io/v1beta1");
  CHECK(Contains(beta.body, R"("name":"mutatingadmissionpolicies")"));
  CHECK_FALSE(Contains(beta.body, "validating"));
  const auto versions = served.Call("GET", "/apis/admissionregistration.k8s.io");
  CHECK(Contains(versions.body,
                 R"("preferredVersion":{"groupVersion":"admissionregistration.k8s.io/v1")"));
}
