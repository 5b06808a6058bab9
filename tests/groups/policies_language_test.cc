// A whole server with policies in the Common Expression Language, as a host puts it together from
// public headers: what is admitted, denied, warned about and changed, word for word.
#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/admission/policy.h"
#include "apiserver/audit/backend.h"
#include "apiserver/audit/policy.h"
#include "apiserver/base/clock.h"
#include "apiserver/base/sync.h"
#include "apiserver/groups/admissionregistration.h"
#include "apiserver/storage/memory/engine.h"
#include "widget_server.h"

using namespace apiserver;  // NOLINT: tests only.
using apiserver::testing::Contains;
using apiserver::testing::kWidgets;
using apiserver::testing::Widget;

namespace {

constexpr char kLanguageApi[] = "/apis/admissionregistration.k8s.io/v1/";

// Keeps the annotations of the events that it is given, and the name of the object.
class AnnotationKeeper final : public audit::Backend {
 public:
  struct Kept {
    std::string name;
    std::map<std::string, std::string> annotations;
  };
  std::string name() const override { return "annotations"; }
  Status Run(const audit::BackendEnvironment&) override { return {}; }
  void ProcessEvents(audit::Events events, Done done) override {
    {
      auto kept = kept_.Lock();
      for (const audit::EventPtr& event : events) {
        if (!event->object_ref) continue;
        Kept one{event->object_ref->name, {}};
        for (const auto& [key, value] : event->annotations) one.annotations[key] = value;
        kept->push_back(std::move(one));
      }
    }
    kept_.NotifyAll();
    if (done) done(true);
  }
  bool Holds() const override { return false; }
  void Shutdown(std::chrono::milliseconds) override {}

  // Returns those of the last request about the object `name`; waits for it.
  std::map<std::string, std::string> Of(const std::string& name) const {
    auto kept = kept_.Lock();
    std::map<std::string, std::string> found;
    const bool there = kept.WaitUntil(RealClock().Now() + std::chrono::seconds(60), [&] {
      return std::ranges::any_of(*kept, [&](const Kept& one) { return one.name == name; });
    });
    CHECK(there);
    for (const Kept& one : *kept) {
      if (one.name == name) found = one.annotations;
    }
    return found;
  }

 private:
  Guarded<std::vector<Kept>> kept_;
};

struct LanguageServer {
  // Null: nothing is audited.
  explicit LanguageServer(std::shared_ptr<AnnotationKeeper> keeper = nullptr) {
    const auto validating = admission::NewPolicies({.type = admission::PolicyType::kValidating,
                                                    .refresh = std::chrono::milliseconds(5),
                                                    .retry = std::chrono::milliseconds(100)});
    const auto mutating = admission::NewPolicies(
        {.type = admission::PolicyType::kMutating, .refresh = std::chrono::milliseconds(5)});
    testing::TestServerOptions options;
    options.engine = engine.get();
    if (keeper) {
      options.configure = [keeper](server::Config& config) {
        const auto policy = audit::ParsePolicy(
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n"
            "rules:\n- level: Metadata\n");
        REQUIRE(policy.ok());
        config.audit_policy = audit::NewPolicyRuleEvaluator(*policy);
        config.audit_backend = keeper;
      };
    }
    options.admission = {admission::NewMutatingPolicyAdmission({.policies = mutating}),
                         admission::NewValidatingPolicyAdmission({.policies = validating})};
    options.install = [=, this](server::GenericAPIServer& api) {
      return groups::admissionregistration::Install(
          api, {.storage = {.engine = engine.get(), .executor = &api.pool()},
                .mutating_policies = mutating,
                .validating_policies = validating});
    };
    server = testing::StartWidgetServer(std::move(options));
  }

  http::ClientResponse Call(const std::string& method, const std::string& target,
                            const std::string& body = "", http::Headers headers = {}) const {
    return server->Call(method, target, body, std::move(headers));
  }
  // Creates an object of the group from YAML; `spec` is indented by two.
  http::ClientResponse Make(const std::string& kind, const std::string& plural,
                            const std::string& name, const std::string& spec) const {
    const std::string text = "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind +
                             "\nmetadata: {name: " + name + "}\nspec:\n" + spec;
    return Call("POST", kLanguageApi + plural, text, {{"Content-Type", "application/yaml"}});
  }
  // Creates a policy about widgets, and its binding.
  void Bind(const std::string& spec, const std::string& actions = "[Deny]",
            const std::string& more = "") const {
    const auto made = Make("ValidatingAdmissionPolicy", "validatingadmissionpolicies", "p",
                           std::string(kMatch) + spec);
    INFO(made.body);
    REQUIRE(made.code == 201);
    const auto bound = Make("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings",
                            "b", "  policyName: p\n  validationActions: " + actions + "\n" + more);
    INFO(bound.body);
    REQUIRE(bound.code == 201);
  }
  void BindMutation(const std::string& spec) const {
    const auto made = Make("MutatingAdmissionPolicy", "mutatingadmissionpolicies", "m",
                           std::string(kMatch) + "  reinvocationPolicy: IfNeeded\n" + spec);
    INFO(made.body);
    REQUIRE(made.code == 201);
    REQUIRE(Make("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", "b",
                 "  policyName: m\n")
                .code == 201);
  }
  // Repeats a dry run until the answer contains `words`: policies are known within milliseconds.
  http::ClientResponse Until(const std::string& words, const std::string& body) const {
    http::ClientResponse answer;
    const auto deadline = RealClock().Now() + std::chrono::seconds(60);
    do {
      answer = Call("POST", std::string(kWidgets) + "?dryRun=All", body);
    } while (!Contains(answer.body, words) && !Warned(answer, words) &&
             RealClock().Now() < deadline);
    INFO(answer.body);
    CHECK((Contains(answer.body, words) || Warned(answer, words)));
    return answer;
  }
  static bool Warned(const http::ClientResponse& answer, const std::string& words) {
    for (const std::string_view value : answer.headers.GetAll("Warning")) {
      if (Contains(value, words)) return true;
    }
    return false;
  }

  static constexpr char kMatch[] =
      "  matchConstraints:\n    resourceRules:\n    - operations: [CREATE, UPDATE]\n"
      "      apiGroups: [example.com]\n      apiVersions: [v1]\n      resources: [widgets]\n";

  std::unique_ptr<storage::kv::Engine> engine = storage::memory::NewEngine();
  std::unique_ptr<testing::TestServer> server;
};

const std::string kLanguageDenied =
    R"(widgets.example.com \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' )"
    R"(denied request: )";

}  // namespace

TEST_CASE("policy language: a request is denied with the best message there is", "[groups]") {
  const LanguageServer served;
  served.Bind(R"yaml(  variables:
  - {name: size, expression: "has(object.spec.size) ? object.spec.size : 0"}
  - {name: limit, expression: "request.namespace == 'default' ? 5 : 10"}
  validations:
  - expression: variables.size <= variables.limit
    messageExpression: "'size ' + string(variables.size) + ' exceeds ' + string(variables.limit)"
    reason: Forbidden
  - expression: variables.size >= 1
    message: too small
  - expression: object.metadata.name.startsWith('a')
)yaml");
  const auto large = served.Until(kLanguageDenied + "size 6 exceeds 5", Widget("a", 6));
  CHECK(large.code == 403);
  CHECK(Contains(large.body, R"("reason":"Forbidden")"));
  const auto small = served.Call("POST", kWidgets, Widget("a", 0));
  CHECK(small.code == 422);
  CHECK(Contains(small.body, kLanguageDenied + "too small"));
  CHECK(Contains(small.body,
                 R"("causes":[{"message":"ValidatingAdmissionPolicy 'p' with binding 'b' denied )"
                 R"(request: too small"}])"));
  const auto named = served.Call("POST", kWidgets, Widget("b", 3));
  CHECK(named.code == 422);
  CHECK(Contains(named.body,
                 "denied request: failed expression: object.metadata.name.startsWith('a')"));
  CHECK(served.Call("POST", kWidgets, Widget("a", 3)).code == 201);
  // Updates are judged too.
  CHECK(served
            .Call("PATCH", std::string(kWidgets) + "/a", R"({"spec":{"size":9}})",
                  {{"Content-Type", "application/merge-patch+json"}})
            .code == 403);
}

TEST_CASE("policy language: conditions choose requests, parameters set limits", "[groups]") {
  const LanguageServer served;
  served.Bind(R"yaml(  paramKind: {apiVersion: example.com/v1, kind: Widget}
  matchConditions:
  - {name: others, expression: "object.metadata.name != params.metadata.name"}
  - {name: fails, expression: "object.metadata.name != 'free' || object.missing"}
  - {name: not-free, expression: "object.metadata.name != 'free'"}
  validations:
  - expression: object.spec.size <= params.spec.size
    messageExpression: "'at most ' + string(params.spec.size) + ' by ' + params.kind"
)yaml",
              "[Deny]", "  paramRef: {name: limit, parameterNotFoundAction: Deny}\n");
  CHECK(served
            .Until("failed to configure binding: no params found for policy binding with `Deny` "
                   "parameterNotFoundAction",
                   Widget("a", 4))
            .code == 422);
  // Without parameters nothing is created while the policy is bound.
  const std::string bindings = std::string(kLanguageApi) + "validatingadmissionpolicybindings";
  CHECK(served.Call("DELETE", bindings + "/b").code == 200);
  CHECK(served.Until(R"("size":4)", Widget("a", 4)).code == 201);
  CHECK(served.Call("POST", kWidgets, Widget("limit", 3)).code == 201);
  CHECK(served
            .Make("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", "b",
                  "  policyName: p\n  validationActions: [Deny]\n"
                  "  paramRef: {name: limit, parameterNotFoundAction: Deny}\n")
            .code == 201);
  CHECK(served.Until(kLanguageDenied + "at most 3 by Widget", Widget("a", 4)).code == 422);
  // A condition that is false wins over one that fails.
  CHECK(served.Call("POST", kWidgets, Widget("free", 9)).code == 201);
  CHECK(served
            .Call("PATCH", std::string(kWidgets) + "/limit", R"({"spec":{"size":2}})",
                  {{"Content-Type", "application/merge-patch+json"}})
            .code == 200);
  CHECK(served.Until(kLanguageDenied + "at most 2 by Widget", Widget("a", 3)).code == 422);
}

TEST_CASE("policy language: annotations and failures are in the audit event", "[groups]") {
  const auto keeper = std::make_shared<AnnotationKeeper>();
  const LanguageServer served(keeper);
  served.Bind(R"yaml(  validations:
  - {expression: object.spec.size < 5, message: rather large}
  auditAnnotations:
  - {key: size, valueExpression: "' is ' + string(object.spec.size) + ' '"}
  - {key: none, valueExpression: "null"}
)yaml",
              "[Warn, Audit]");
  CHECK(served.Until("rather large", Widget("a", 6)).code == 201);
  CHECK(served.Call("POST", kWidgets, Widget("large", 7)).code == 201);
  auto found = keeper->Of("large");
  CHECK(found["p/size"] == "is 7");
  CHECK(found.count("p/none") == 0);
  CHECK(found["validation.policy.admission.k8s.io/validation_failure"] ==
        R"([{"message":"rather large","policy":"p","binding":"b","expressionIndex":0,)"
        R"("validationActions":["Warn","Audit"]}])");
  CHECK(served.Call("POST", kWidgets, Widget("small", 1)).code == 201);
  found = keeper->Of("small");
  CHECK(found["p/size"] == "is 1");
  CHECK(found.count("validation.policy.admission.k8s.io/validation_failure") == 0);
}

TEST_CASE("policy language: errors are up to failurePolicy", "[groups]") {
  const LanguageServer served;
  served.Bind(R"yaml(  validations:
  - expression: object.spec.color == 'blue'
)yaml");
  const auto answer = served.Until("resulted in error", Widget("a", 1));
  CHECK(answer.code == 422);
  CHECK(Contains(answer.body, kLanguageDenied +
                                  "expression 'object.spec.color == 'blue'' resulted in "
                                  "error: no such key: color"));
  CHECK(served
            .Call("PATCH", std::string(kLanguageApi) + "validatingadmissionpolicies/p",
                  R"({"spec":{"failurePolicy":"Ignore"}})",
                  {{"Content-Type", "application/merge-patch+json"}})
            .code == 200);
  CHECK(served.Until(R"("size":1)", Widget("a", 1)).code == 201);
}

TEST_CASE("policy language: Warn warns, and the request goes on", "[groups]") {
  const LanguageServer served;
  served.Bind(R"yaml(  validations:
  - {expression: object.spec.size < 5, message: rather large}
)yaml",
              "[Warn, Audit]");
  const std::string warning =
      "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': rather large";
  CHECK(served.Until(warning, Widget("a", 6)).code == 201);
  CHECK_FALSE(LanguageServer::Warned(
      served.Call("POST", std::string(kWidgets) + "?dryRun=All", Widget("a", 4)), "rather large"));
}

TEST_CASE("policy language: a mutation changes what is stored", "[groups]") {
  const LanguageServer served;
  served.BindMutation(R"yaml(  variables:
  - {name: color, expression: "object.spec.size > 5 ? 'red' : 'blue'"}
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: >
        Object{metadata: Object.metadata{labels: {"color": variables.color}}, spec:
        Object.spec{color: variables.color}}
  - patchType: JSONPatch
    jsonPatch:
      expression: >
        [JSONPatch{op: "test", path: "/spec/color", value: "red"},
        JSONPatch{op: "replace", path: "/spec/size", value: object.spec.size - 1},
        JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("a/b"), value: "c"}]
)yaml");
  (void)served.Until(R"("color":"blue")", Widget("a", 3));
  const auto blue = served.Call("POST", kWidgets, Widget("a", 3));
  INFO(blue.body);
  CHECK(blue.code == 201);
  CHECK(Contains(blue.body, R"("labels":{"color":"blue"})"));
  CHECK(Contains(blue.body, R"("spec":{"size":3,"color":"blue"})"));
  // The second round sees what the first has made: 7 becomes 6, and 6 becomes 5.
  const auto red = served.Call("POST", kWidgets, Widget("b", 7));
  INFO(red.body);
  CHECK(red.code == 201);
  CHECK(Contains(red.body, R"("a/b":"c")"));
  CHECK(Contains(served.Call("GET", std::string(kWidgets) + "/b").body, R"("size":5)"));
}

TEST_CASE("policy language: a mutation that fails refuses the request", "[groups]") {
  const LanguageServer served;
  served.BindMutation(R"yaml(  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{spec: Object.spec{colour: 'red'}}"}
)yaml");
  const auto answer = served.Until("denied request", Widget("a", 3));
  INFO(answer.body);
  CHECK(answer.code == 403);
  CHECK(Contains(answer.body,
                 R"(policy 'm' with binding 'b' denied request: error applying patch: )"
                 R"(failed to convert patch object to typed object: .spec.colour: )"
                 R"(field not declared in schema)"));
}

TEST_CASE("policy language: what does not compile is refused when it is written", "[groups]") {
  const LanguageServer served;
  const auto answer = served.Make("ValidatingAdmissionPolicy", "validatingadmissionpolicies", "p",
                                  std::string(LanguageServer::kMatch) + R"yaml(  variables:
  - {name: size, expression: object.spec.size}
  - {name: in, expression: "1"}
  validations:
  - {expression: variables.nothing == 1, messageExpression: "authorizer.path('/').check('get')"
}
  - {expression: "'a'"}
  auditAnnotations:
  - {key: k, valueExpression: "1"}
)yaml");
  INFO(answer.body);
  CHECK(answer.code == 422);
  for (
      const char* words :
      {R"(spec.variables[1].name: Invalid value: \"in\": must be a valid CEL identifier)",
       R"(spec.validations[0].expression: Invalid value: \"variables.nothing == 1\": compilation )"
       R"(failed: ERROR: \u003cinput\u003e:1:10: undefined field 'nothing'\n | )"
       R"(variables.nothing == 1\n | .........^)",
       R"(spec.validations[0].messageExpression: Invalid value: )"
       R"(\"authorizer.path('/').check('get')\": compilation failed: ERROR: )"
       R"(\u003cinput\u003e:1:1: undeclared reference to 'authorizer' )"
       R"((in container ''))",
       R"(spec.validations[1].expression: Invalid value: \"'a'\": )"
       R"(must evaluate to bool but got string)",
       R"(spec.auditAnnotations[0].valueExpression: Invalid value: \"1\": must evaluate to one of )"
       R"([string null_type] but got int)"}) {
    INFO(words);
    CHECK(Contains(answer.body, words));
  }
}

TEST_CASE("policy language: the status warns about types", "[groups]") {
  const LanguageServer served;
  served.Bind(R"yaml(  validations:
  - expression: object.spec.colour == 'blue' || object.spec.size == 'large'
    messageExpression: "'size is ' + object.spec.size"
  - expression: object.metadata.labels['a'] == object.kind
)yaml");
  const std::string path = std::string(kLanguageApi) + "validatingadmissionpolicies/p";
  std::string body;
  const auto deadline = RealClock().Now() + std::chrono::seconds(60);
  do {
    body = served.Call("GET", path).body;
  } while (!Contains(body, R"("observedGeneration":1)") && RealClock().Now() < deadline);
  INFO(body);
  CHECK(Contains(
      body,
      R"({"fieldRef":"spec.validations[0].expression","warning":"example.com/v1, Kind=Widget: )"
      R"(ERROR: \u003cinput\u003e:1:12: undefined field 'colour'\n | object.spec.colour == )"
      R"('blue' || object.spec.size == 'large'\n | ...........^\nERROR: \u003cinput\u003e:1:50: )"
      R"(found no matching overload for '_==_' applied to '(int, string)')"));
  CHECK(Contains(body, R"({"fieldRef":"spec.validations[0].messageExpression","warning":)"
                       R"("example.com/v1, Kind=Widget: ERROR: \u003cinput\u003e:1:12: found no )"
                       R"(matching overload for '_+_' applied to '(string, int)')"));
  CHECK_FALSE(Contains(body, "spec.validations[1]"));
  // The policy does what it says all the same.
  CHECK(served.Until("no such key: colour", Widget("a", 1)).code == 422);
}
