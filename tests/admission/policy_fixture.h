#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy/source.h"
#include "apiserver/admission/policy.h"
#include "apiserver/codec/json.h"
#include "webhook_fixture.h"

// Policies whose expressions are functions of a test.
namespace apiserver::inline v0::testing {

namespace policy = admission::policy;
using policy::Evaluated;
using policy::EvaluatedList;

// Evaluates one expression.
using Expression = std::function<Evaluated(const policy::Variables& variables)>;

inline Expression Always(Evaluated result) {
  return [result](const policy::Variables&) { return result; };
}
inline Expression True() { return Always({.kind = Evaluated::Kind::kBool, .truth = true}); }
inline Expression False() { return Always({.kind = Evaluated::Kind::kBool}); }
inline Expression Text(const std::string& text) {
  return Always({.kind = Evaluated::Kind::kString, .text = text});
}
inline Expression Error(const std::string& text) {
  return Always({.kind = Evaluated::Kind::kError, .text = text});
}
inline Expression Absent() { return Always({}); }

// A list of expressions, each of which costs 1.
class FakeExpressions final : public policy::ExpressionList {
 public:
  explicit FakeExpressions(std::vector<Expression> expressions)
      : expressions_(std::move(expressions)) {}

  EvaluatedList Evaluate(const Context&, const policy::Variables& variables,
                         std::int64_t budget) const override {
    EvaluatedList list;
    for (const Expression& expression : expressions_) {
      if (--budget < 0) {
        return {.failure = EvaluatedList::Failure::kOutOfBudget,
                .message =
                    "validation failed due to running out of cost budget, no further "
                    "validation rules will be run"};
      }
      list.results.push_back(expression(variables));
    }
    list.remaining = budget;
    return list;
  }

 private:
  const std::vector<Expression> expressions_;
};
inline policy::ExpressionListPtr List(std::vector<Expression> expressions) {
  return std::make_shared<FakeExpressions>(std::move(expressions));
}
// Fails as a whole.
class FailedExpressions final : public policy::ExpressionList {
 public:
  explicit FailedExpressions(EvaluatedList failure) : failure_(std::move(failure)) {}
  EvaluatedList Evaluate(const Context&, const policy::Variables&, std::int64_t) const override {
    return failure_;
  }

 private:
  const EvaluatedList failure_;
};

// A rule for all operations on widgets.
inline policy::NamedRule WidgetRule() {
  return {.rule = {.operations = {"*"},
                   .api_groups = {"example.com"},
                   .api_versions = {"v1"},
                   .resources = {"widgets"}}};
}

// The parts of a policy for widgets, which a test changes before it is made.
struct PolicyParts {
  std::string name = "p";
  policy::MatchResources match = {.resource_rules = {WidgetRule()}};
  bool fail_open = false;
  std::vector<Expression> conditions = {};
  std::vector<std::pair<Expression, policy::ValidationTexts>> validations = {};
  std::vector<Expression> messages = {};  // Empty: none.
  std::vector<std::pair<std::string, Expression>> annotations = {};

  policy::PolicyPtr Make() const {
    policy::ValidatorParts parts{.match_conditions = {.fail_open = fail_open, .name = name},
                                 .fail_open = fail_open};
    if (!conditions.empty()) parts.match_conditions.conditions = List(conditions);
    std::vector<Expression> expressions;
    for (const auto& [expression, texts] : validations) {
      expressions.push_back(expression);
      parts.validations.push_back(texts);
    }
    parts.expressions = List(std::move(expressions));
    parts.messages = List(messages);
    std::vector<Expression> values;
    for (const auto& [key, expression] : annotations) {
      parts.audit_keys.push_back(key);
      parts.audit_texts.push_back("text of " + key);
      values.push_back(expression);
    }
    parts.audit_annotations = List(std::move(values));
    auto made = std::make_shared<policy::Policy>();
    made->name = name;
    made->match = match;
    made->fail_open = fail_open;
    made->validator = std::make_shared<policy::Validator>(std::move(parts));
    return made;
  }
};

inline policy::BindingPtr Bind(const std::string& name, std::vector<std::string> actions) {
  auto binding = std::make_shared<policy::Binding>();
  binding->name = name;
  binding->policy = "p";
  binding->actions = std::move(actions);
  return binding;
}

// A server's objects of one kind of parameters.
class FakeParams final : public policy::ParamSource {
 public:
  FakeParams(bool namespaced, std::vector<runtime::ObjectPtr> objects, bool synced = true)
      : namespaced_(namespaced), objects_(std::move(objects)), synced_(synced) {}
  bool namespaced() const override { return namespaced_; }
  bool WaitForSync(std::chrono::milliseconds) const override { return synced_; }
  runtime::ObjectPtr Get(std::string_view ns, std::string_view name) const override {
    for (const auto& object : objects_) {
      if (object->namespace_() == ns && object->name() == name) return object;
    }
    return nullptr;
  }
  std::vector<runtime::ObjectPtr> List(std::string_view ns,
                                       const meta::LabelSelector& selector) const override {
    std::vector<runtime::ObjectPtr> found;
    for (const auto& object : objects_) {
      if (object->namespace_() == ns && selector.Matches(object->labels())) {
        found.push_back(object);
      }
    }
    return found;
  }

 private:
  const bool namespaced_;
  const std::vector<runtime::ObjectPtr> objects_;
  const bool synced_;
};

// An untyped object, as an informer has it.
inline runtime::ObjectPtr Param(const std::string& ns, const std::string& name,
                                const std::string& label = "") {
  const auto kind = runtime::Kind::Untyped({"rules.example.com", "v1", "Limit"});
  auto object = std::make_unique<runtime::Object>(kind, "v1");
  if (!ns.empty()) object->Edit("metadata", "namespace") = ns;
  object->Edit("metadata", "name") = name;
  if (!label.empty()) object->Edit("metadata", "labels", "a") = label;
  return object;
}

// The plugin over fixed policies.
struct ValidatingPolicies {
  explicit ValidatingPolicies(std::vector<policy::Hook> hooks,
                              admission::PolicyAdmissionOptions options = {}) {
    options.policies = policy::NewStaticPolicies(std::move(hooks));
    chain.emplace(std::vector{admission::NewValidatingPolicyAdmission(options)}, *registry,
                  RealClock());
  }
  Status Run(WidgetRequest& request) const {
    return chain->Validate(request.ctx, request.Attributes());
  }
  bool Counted(const std::string& line) const {
    return registry->Serialize().find(line) != std::string::npos;
  }

  std::unique_ptr<metrics::Registry> registry = metrics::NewRegistry();
  std::optional<admission::Chain> chain;
};

inline std::string JsonOf(const runtime::Value& value) {
  std::string text;
  codec::AppendJson(value, text);
  return text;
}

}  // namespace apiserver::inline v0::testing
