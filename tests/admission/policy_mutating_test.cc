// plugin/policy/mutating: dispatcher.go, reinvocationcontext.go, plugin_test.go.
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/meta/errors.h"
#include "policy_fixture.h"

using namespace apiserver;           // NOLINT: tests only.
using namespace apiserver::testing;  // NOLINT: tests only.

namespace {

using Changed = Result<std::unique_ptr<runtime::Object>>;

// A mutation that is a function of a test.
class FakeMutation final : public policy::Mutation {
 public:
  using Function =
      std::function<Changed(const policy::Variables& variables, const runtime::Object& object)>;
  explicit FakeMutation(Function function) : function_(std::move(function)) {}
  Changed Apply(const Context&, const policy::Variables& variables,
                const runtime::Object& object) const override {
    return function_(variables, object);
  }

 private:
  const Function function_;
};

FakeMutation::Function Append(const std::string& text) {
  return [text](const policy::Variables& variables, const runtime::Object& object) -> Changed {
    // The expression sees the result of the mutations before.
    const std::string color(variables.object["spec"]["color"].AsString());
    auto changed = object.Clone();
    changed->Edit("spec", "color") = color + text;
    return changed;
  };
}

struct Parts {
  std::string name = "p";
  std::vector<FakeMutation::Function> mutations = {};
  bool fail_open = false;
  bool reinvoke = false;
  std::vector<Expression> conditions = {};

  policy::Hook Make() const {
    std::vector<std::shared_ptr<const policy::Mutation>> made;
    for (const auto& mutation : mutations) made.push_back(std::make_shared<FakeMutation>(mutation));
    policy::MatchConditionsOptions options{.fail_open = fail_open, .name = name};
    if (!conditions.empty()) options.conditions = List(conditions);
    auto p = std::make_shared<policy::Policy>();
    p->name = name;
    p->match = {.resource_rules = {WidgetRule()}};
    p->fail_open = fail_open;
    p->reinvoke_if_needed = reinvoke;
    p->mutator = std::make_shared<policy::Mutator>(
        policy::Mutator{policy::MatchConditions(std::move(options)), std::move(made)});
    return {.policy = p, .bindings = {Bind("b", {})}};
  }
};

// A plugin of a test that runs after the policies.
class Other final : public admission::Plugin {
 public:
  explicit Other(std::function<void(admission::Attributes&)> change) : change_(std::move(change)) {}
  std::string_view name() const override { return "Other"; }
  bool Handles(admission::Operation) const override { return true; }
  Status Admit(const Context&, admission::Attributes& attributes) const override {
    change_(attributes);
    return {};
  }

 private:
  const std::function<void(admission::Attributes&)> change_;
};

struct MutatingPolicies {
  explicit MutatingPolicies(std::vector<policy::Hook> hooks,
                            std::vector<std::shared_ptr<const admission::Plugin>> more = {}) {
    std::vector<std::shared_ptr<const admission::Plugin>> plugins{
        admission::NewMutatingPolicyAdmission(
            {.policies = policy::NewStaticPolicies(std::move(hooks))})};
    plugins.insert(plugins.end(), more.begin(), more.end());
    chain.emplace(std::move(plugins), *registry, RealClock());
  }
  Status Run(WidgetRequest& request) const {
    admission::Attributes attributes = request.Attributes();
    return chain->Admit(request.ctx, attributes);
  }

  std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::optional<admission::Chain> chain;
};

std::string Color(const WidgetRequest& request) {
  return std::string(request.object["spec"]["color"].AsString());
}

}  // namespace

TEST_CASE("policy: mutations run in order, each on the result of the last", "[admission]") {
  const MutatingPolicies policies({Parts{.mutations = {Append("a"), Append("b")}}.Make(),
                                   Parts{.name = "q", .mutations = {Append("c")}}.Make()});
  WidgetRequest request;
  CHECK(policies.Run(request).ok());
  CHECK(Color(request) == "abc");
  CHECK(policies.registry->Serialize().find(
            "apiserver_mutating_admission_policy_check_total{policy=\"p\",policy_binding=\"b\","
            "error_type=\"no_error\"} 2") != std::string::npos);
}

TEST_CASE("policy: a failed mutation is up to failurePolicy", "[admission]") {
  const auto fail = [](const policy::Variables&, const runtime::Object&) -> Changed {
    return Status(Reason::kInvalid, "expression 'x' resulted in error: y");
  };
  Parts parts{.mutations = {fail, Append("a")}};
  WidgetRequest request;
  const Status status = MutatingPolicies({parts.Make()}).Run(request);
  // The reason is Invalid, the code that of Forbidden.
  CHECK(status.reason() == Reason::kInvalid);
  CHECK(status.code() == 403);
  CHECK(status.message() ==
        "policy 'p' with binding 'b' denied request: expression 'x' resulted in error: y");
  REQUIRE(status.details() != nullptr);
  REQUIRE(status.details()->causes.size() == 1);
  CHECK(status.details()->causes[0].message == status.message());

  parts.fail_open = true;
  WidgetRequest open;
  CHECK(MutatingPolicies({parts.Make()}).Run(open).ok());
  CHECK(Color(open) == "a");
}

TEST_CASE("policy: every failure is a cause of the refusal", "[admission]") {
  const auto fail = [](const policy::Variables&, const runtime::Object&) -> Changed {
    return Status(Reason::kInvalid, "e");
  };
  policy::Hook misconfigured = Parts{.name = "a"}.Make();
  misconfigured.configuration_error = "no such kind";
  WidgetRequest request;
  const Status status =
      MutatingPolicies({misconfigured, Parts{.mutations = {fail}}.Make()}).Run(request);
  CHECK(status.message() ==
        "policy \"a\" denied request: failed to configure policy: no such kind");
  CHECK(status.reason() == Reason::kForbidden);
  CHECK(status.details()->causes.size() == 2);
}

TEST_CASE("policy: other errors of a mutation end the request as they are", "[admission]") {
  const auto missing = [](const policy::Variables&, const runtime::Object&) -> Changed {
    return meta::NewServiceUnavailable("Resource kind x not found.");
  };
  WidgetRequest request;
  const Status status =
      MutatingPolicies({Parts{.mutations = {missing}, .fail_open = true}.Make()}).Run(request);
  CHECK(status.code() == 503);
  CHECK(status.message() == "Resource kind x not found.");
}

TEST_CASE("policy: conditions decide about mutations too", "[admission]") {
  Parts parts{.mutations = {Append("a")}, .conditions = {False()}};
  WidgetRequest skipped;
  CHECK(MutatingPolicies({parts.Make()}).Run(skipped).ok());
  CHECK(Color(skipped).empty());
  parts.conditions = {Error("e")};
  WidgetRequest failed;
  CHECK(MutatingPolicies({parts.Make()}).Run(failed).message() ==
        "policy 'p' with binding 'b' denied request: e");
  parts.fail_open = true;
  WidgetRequest ignored;
  CHECK(MutatingPolicies({parts.Make()}).Run(ignored).ok());
  CHECK(Color(ignored).empty());
}

TEST_CASE("policy: defaults are set after each mutation, unknown fields go", "[admission]") {
  const auto odd = [](const policy::Variables&, const runtime::Object& object) -> Changed {
    auto changed = object.Clone();
    changed->Edit("spec", "unknown") = "x";
    changed->Edit("spec", "color") = "red";
    return changed;
  };
  WidgetRequest request;
  CHECK(MutatingPolicies({Parts{.mutations = {odd}}.Make()}).Run(request).ok());
  CHECK(JsonOf(request.object["spec"]) == R"({"color":"red"})");
}

TEST_CASE("policy: reinvocation is as the policy says", "[admission]") {
  const auto run = [](bool reinvoke, bool change_after) {
    int rounds = 0;
    const auto other = std::make_shared<Other>([&](admission::Attributes& attributes) {
      if (change_after && rounds++ == 0) attributes.editable->Edit("spec", "size") = 5;
    });
    WidgetRequest request;
    CHECK(
        MutatingPolicies({Parts{.mutations = {Append("a")}, .reinvoke = reinvoke}.Make()}, {other})
            .Run(request)
            .ok());
    return Color(request);
  };
  CHECK(run(false, false) == "a");
  CHECK(run(false, true) == "a");
  CHECK(run(true, true) == "aa");
  // As upstream: a policy that changes the object is itself run again.
  CHECK(run(true, false) == "aa");
}

TEST_CASE("policy: the second round runs no policy for the first time", "[admission]") {
  const Expression has_a = [](const policy::Variables& variables) {
    return Evaluated{.kind = Evaluated::Kind::kBool,
                     .truth = variables.object["spec"]["color"].AsString() == "b"};
  };
  // It would match only what the second policy has made.
  const MutatingPolicies policies(
      {Parts{.mutations = {Append("a")}, .reinvoke = true, .conditions = {has_a}}.Make(),
       Parts{.name = "q", .mutations = {Append("b")}}.Make()});
  WidgetRequest request;
  CHECK(policies.Run(request).ok());
  CHECK(Color(request) == "b");
}

TEST_CASE("policy: deletes are not mutated", "[admission]") {
  const auto plugin =
      admission::NewMutatingPolicyAdmission({.policies = policy::NewStaticPolicies({})});
  CHECK_FALSE(plugin->Handles(admission::Operation::kDelete));
  CHECK(plugin->Handles(admission::Operation::kCreate));
  CHECK(plugin->Handles(admission::Operation::kUpdate));
  CHECK(plugin->Handles(admission::Operation::kConnect));
}

TEST_CASE("policy: a write does not begin on an event loop once there is a policy", "[admission]") {
  const auto plugin = admission::NewMutatingPolicyAdmission(
      {.policies = policy::NewStaticPolicies({Parts{.name = "a"}.Make()})});
  CHECK_FALSE(plugin->RunsInline(Operation::kCreate, "default"));
}
