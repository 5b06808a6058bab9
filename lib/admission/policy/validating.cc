#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "admission/policy/plugin.h"
#include "admission/versions.h"
#include "apiserver/codec/json.h"
#include "apiserver/rest/warnings.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission::policy {

namespace {

// Limits the value of an audit annotation, in bytes; the rest of a longer one is cut.
constexpr std::size_t kAnnotationBytesMax = std::size_t{10} * 1024;

// The values of a policy's audit annotations, from all of its bindings.
class AnnotationCollector {
 public:
  void Add(const std::string& key, std::string value) {
    std::vector<std::string>& values = values_[key];
    if (std::ranges::find(values, value) == values.end()) values.push_back(std::move(value));
  }
  void Publish(const std::string& policy, Annotations& annotations) const {
    for (const auto& [key, values] : values_) {
      std::string joined;
      for (const std::string& value : values) {
        if (!joined.empty()) joined += ", ";
        joined += value;
      }
      // A key that is taken keeps its value, as upstream.
      (void)annotations.Add(std::string(policy).append("/").append(key), joined);
    }
  }

 private:
  std::map<std::string, std::vector<std::string>> values_;
};

std::string FailureAnnotation(const Binding& binding, std::size_t index, const Decision& decision) {
  std::string text = R"([{"message":)";
  codec::AppendJsonString(decision.message, text);
  text += R"(,"policy":)";
  codec::AppendJsonString(binding.policy, text);
  text += R"(,"binding":)";
  codec::AppendJsonString(binding.name, text);
  text += R"(,"expressionIndex":)" + std::to_string(index) + R"(,"validationActions":[)";
  for (const std::string& action : binding.actions) {
    if (text.back() != '[') text += ",";
    codec::AppendJsonString(action, text);
  }
  return text + "]}]";
}

// One pass of the plugin over the policies: validating/dispatcher.go.
class ValidatingPass {
 public:
  ValidatingPass(const Context& ctx, const PolicyDispatcher& dispatcher,
                 const Attributes& attributes)
      : ctx_(ctx),
        dispatcher_(dispatcher),
        attributes_(attributes),
        values_(dispatcher.ValuesOf(attributes)),
        versions_(attributes) {}

  // Evaluates a policy for all of its bindings. An error ends the pass and the request.
  Status Check(const Hook& hook) {
    const auto matched =
        dispatcher_.matcher().Match(ctx_, hook.policy->match, attributes_, attributes_.object);
    if (!matched.ok()) return Misconfigured(hook, nullptr, matched.status());
    if (!*matched) return {};
    if (!hook.configuration_error.empty()) {
      return Misconfigured(hook, nullptr, Status(Reason::kInternalError, hook.configuration_error));
    }
    AnnotationCollector collector;
    for (const BindingPtr& binding : hook.bindings) {
      RETURN_IF_ERROR(CheckBinding(hook, *binding, **matched, collector));
    }
    collector.Publish(hook.policy->name, *attributes_.annotations);
    return {};
  }

  // Returns the answer to the request: the first refusal.
  Status Answer() const { return denied_; }

 private:
  Status CheckBinding(const Hook& hook, const Binding& binding, const Matched& matched,
                      AnnotationCollector& collector) {
    if (binding.match) {
      const auto matches =
          dispatcher_.matcher().Match(ctx_, *binding.match, attributes_, attributes_.object);
      if (!matches.ok()) return Misconfigured(hook, &binding, matches.status());
      if (!*matches) return {};
    }
    const ParamKind* kind = hook.policy->param_kind ? &*hook.policy->param_kind : nullptr;
    const auto params =
        CollectParams(kind, binding.param_ref.get(), hook.params.get(), attributes_.namespace_);
    if (!params.ok()) return Misconfigured(hook, &binding, params.status());
    Result<ReviewObjects> objects = ReviewObjects();
    if (!params->empty()) objects = versions_.In(ctx_, matched.kind);
    if (!objects.ok()) {
      if (objects.status().reason() == Reason::kWouldBlock) return objects.status();
      return Misconfigured(hook, &binding,
                           objects.status().WithMessage("failed to convert object version: " +
                                                        std::string(objects.status().message())));
    }
    // A namespace that is missing is the request's error, not the policy's.
    RETURN_IF_ERROR(values_.ReadNamespace(ctx_));
    for (const runtime::ObjectPtr& param : *params) {
      ASSIGN_OR_RETURN(const Variables variables,
                       values_.For(ctx_, matched, *objects, param.get(), kind));
      const ValidateResult result =
          hook.policy->validator->Validate(ctx_, variables, attributes_.metrics);
      for (std::size_t i = 0; i < result.decisions.size(); ++i) {
        Enforce(hook, binding, i, result.decisions[i]);
      }
      for (const AuditAnnotation& annotation : result.audit_annotations) {
        Annotate(hook, binding, annotation, collector);
      }
    }
    return {};
  }

  // Notes a configuration error, which refuses the request whatever the binding's actions are.
  Status Misconfigured(const Hook& hook, const Binding* binding, const Status& error) {
    if (error.reason() == Reason::kWouldBlock) return error;
    if (hook.policy->fail_open) return {};
    const char* const what =
        binding ? "failed to configure binding: " : "failed to configure policy: ";
    Deny(hook, binding, what + std::string(error.message()), Reason::kInvalid);
    return {};
  }

  void Enforce(const Hook& hook, const Binding& binding, std::size_t index,
               const Decision& decision) {
    if (decision.action == Decision::Action::kAdmit) {
      if (decision.evaluation == Decision::Evaluation::kError) {
        Observe(hook, binding, decision, "allow");
      }
      return;
    }
    for (const std::string& action : binding.actions) {
      if (action == "Deny") {
        Deny(hook, &binding, decision.message, decision.reason);
        Observe(hook, binding, decision, "deny");
      } else if (action == "Audit") {
        // The first failure is kept: an annotation cannot be changed.
        (void)attributes_.annotations->Add("validation.policy.admission.k8s.io/validation_failure",
                                           FailureAnnotation(binding, index, decision));
        Observe(hook, binding, decision, "audit");
      } else if (action == "Warn") {
        rest::AddWarning(ctx_, "Validation failed for ValidatingAdmissionPolicy '" +
                                   hook.policy->name + "' with binding '" + binding.name +
                                   "': " + decision.message);
        Observe(hook, binding, decision, "warn");
      }
    }
  }

  void Annotate(const Hook& hook, const Binding& binding, const AuditAnnotation& annotation,
                AnnotationCollector& collector) {
    if (annotation.action == AuditAnnotation::Action::kPublish) {
      collector.Add(annotation.key, annotation.text.substr(0, kAnnotationBytesMax));
    } else if (annotation.action == AuditAnnotation::Action::kError) {
      // An annotation that cannot be made refuses the request, also without the action Deny.
      const Decision decision{.action = Decision::Action::kDeny,
                              .evaluation = Decision::Evaluation::kError,
                              .message = annotation.text,
                              .elapsed = annotation.elapsed};
      Deny(hook, &binding, decision.message, decision.reason);
      Observe(hook, binding, decision, "deny");
    }
  }

  void Deny(const Hook& hook, const Binding* binding, const std::string& message, Reason reason) {
    // The client is told about the first one only.
    if (!denied_.ok()) return;
    std::string why = "ValidatingAdmissionPolicy '" + hook.policy->name + "'";
    if (binding) why += " with binding '" + binding->name + "'";
    why += " denied request: " + message;
    const Status forbidden = NewForbidden(attributes_, why);
    StatusDetails details = forbidden.details() ? *forbidden.details() : StatusDetails();
    details.causes.push_back({.message = why});
    denied_ = Status(reason, std::string(forbidden.message())).WithDetails(std::move(details));
  }

  void Observe(const Hook& hook, const Binding& binding, const Decision& decision,
               std::string_view action) const {
    if (!attributes_.metrics) return;
    attributes_.metrics->policies().ObserveValidating({.policy = hook.policy->name,
                                                       .binding = binding.name,
                                                       .error_type = decision.ErrorType(),
                                                       .action = action,
                                                       .took = decision.elapsed});
  }

  const Context& ctx_;
  const PolicyDispatcher& dispatcher_;
  const Attributes& attributes_;
  RequestValues values_;
  ReadVersions versions_;
  Status denied_;
};

class ValidatingPolicyAdmission final : public Plugin {
 public:
  explicit ValidatingPolicyAdmission(PolicyAdmissionOptions options)
      : dispatcher_(std::move(options)) {}

  std::string_view name() const override { return "ValidatingAdmissionPolicy"; }
  bool Handles(Operation) const override { return true; }
  bool RunsInline(Operation, std::string_view) const override { return dispatcher_.Idle(); }
  bool mutates() const override { return false; }

  Status Validate(const Context& ctx, const Attributes& attributes) const override {
    ASSIGN_OR_RETURN(const auto snapshot, dispatcher_.SnapshotFor(attributes));
    if (!snapshot) return {};
    const std::vector<std::uint32_t> candidates = snapshot->CandidatesByLabels(attributes);
    if (candidates.empty()) return {};
    RETURN_IF_ERROR(PolicyDispatcher::RequireAuthorizer(ctx, *snapshot, candidates));
    ValidatingPass pass(ctx, dispatcher_, attributes);
    for (const std::uint32_t index : candidates) {
      RETURN_IF_ERROR(pass.Check(snapshot->hooks()[index]));
    }
    return pass.Answer();
  }

 private:
  const PolicyDispatcher dispatcher_;
};

}  // namespace

}  // namespace apiserver::v0::admission::policy

namespace apiserver::v0::admission {

std::shared_ptr<const Plugin> NewValidatingPolicyAdmission(PolicyAdmissionOptions options) {
  return std::make_shared<policy::ValidatingPolicyAdmission>(std::move(options));
}

}  // namespace apiserver::v0::admission
