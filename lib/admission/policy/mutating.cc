#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "admission/policy/plugin.h"
#include "admission/reinvoked.h"
#include "admission/versions.h"
#include "apiserver/meta/errors.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"

namespace apiserver::v0::admission::policy {

namespace {

constexpr std::string_view kPluginName = "MutatingAdmissionPolicy";

// A policy, a binding, and the namespace and name of a parameter.
using InvocationKey = std::tuple<std::string, std::string, std::string, std::string>;

using PolicyReinvocation = Reinvoked<InvocationKey>;

// A policy to be evaluated for one binding and parameter.
struct Invocation {
  const Policy& policy;
  const Binding& binding;
  Matched matched;
  runtime::ObjectPtr param;

  InvocationKey key() const {
    return {policy.name, binding.name, std::string(param ? param->namespace_() : ""),
            std::string(param ? param->name() : "")};
  }
};

std::string_view ErrorTypeOf(std::string_view message) {
  if (message.starts_with("compilation")) return "compile_error";
  if (message.starts_with("validation failed due to running out of cost budget")) {
    return "out_of_budget";
  }
  return "invalid_error";
}

// One pass of the plugin: generic/policy_dispatcher.go and mutating/dispatcher.go.
class MutatingPass {
 public:
  MutatingPass(const Context& ctx, const PolicyDispatcher& dispatcher, Attributes& attributes)
      : ctx_(ctx),
        dispatcher_(dispatcher),
        attributes_(attributes),
        again_(PolicyReinvocation::Of(*attributes.reinvocation, kPluginName)),
        values_(dispatcher.ValuesOf(attributes)),
        version_(attributes) {}

  // Collects what a policy has to do for this request.
  Status Collect(const Hook& hook) {
    const auto matched =
        dispatcher_.matcher().Match(ctx_, hook.policy->match, attributes_, attributes_.object);
    if (!matched.ok()) return Misconfigured(*hook.policy, nullptr, matched.status());
    if (!*matched) return {};
    if (!hook.configuration_error.empty()) {
      return Misconfigured(*hook.policy, nullptr,
                           Status(Reason::kInternalError, hook.configuration_error));
    }
    for (const BindingPtr& binding : hook.bindings) {
      RETURN_IF_ERROR(CollectBinding(hook, *binding, **matched));
    }
    return {};
  }

  // Evaluates what was collected, changes the object, and returns the answer to the request.
  Status Run() {
    if (!invocations_.empty()) {
      const bool second = attributes_.reinvocation->is_reinvoke();
      // Other plugins made the changes in between, which all policies must then see.
      if (second && again_.ChangedSince(attributes_.object)) again_.RequirePrevious();
      const Status status = RunAll(second);
      // Kept as a copy, since later plugins change the object in place.
      again_.last_output = attributes_.object ? attributes_.object->Clone() : nullptr;
      RETURN_IF_ERROR(status);
    }
    return Answer();
  }

 private:
  Status CollectBinding(const Hook& hook, const Binding& binding, const Matched& matched) {
    if (binding.match) {
      const auto matches =
          dispatcher_.matcher().Match(ctx_, *binding.match, attributes_, attributes_.object);
      if (!matches.ok()) return Misconfigured(*hook.policy, &binding, matches.status());
      if (!*matches) return {};
    }
    const Policy& policy = *hook.policy;
    auto params = CollectParams(policy.param_kind ? &*policy.param_kind : nullptr,
                                binding.param_ref.get(), hook.params.get(), attributes_.namespace_);
    if (!params.ok()) return Misconfigured(policy, &binding, params.status());
    for (runtime::ObjectPtr& param : *params) {
      invocations_.push_back({policy, binding, matched, std::move(param)});
    }
    return {};
  }

  Status RunAll(bool second) {
    RETURN_IF_ERROR(values_.ReadNamespace(ctx_));
    for (const Invocation& invocation : invocations_) {
      RETURN_IF_ERROR(RunOne(invocation, second));
    }
    if (!mutated_) return {};
    again_.RequirePrevious();
    attributes_.reinvocation->SetShouldReinvoke();
    return version_.WriteBack(ctx_);
  }

  Status RunOne(const Invocation& invocation, bool second) {
    const Policy& policy = invocation.policy;
    if (const Status turned = version_.TurnTo(ctx_, invocation.matched.kind); !turned.ok()) {
      return Misconfigured(policy, nullptr, turned);
    }
    ASSIGN_OR_RETURN(const Variables variables, VariablesOf(invocation));
    const MatchResult match =
        policy.mutator->conditions.Match(ctx_, variables, attributes_.metrics);
    if (!match.error.empty()) {
      Fail(policy, &invocation.binding, match.error, Reason::kInvalid);
      return {};
    }
    if (!match.matches) return {};
    // The second round runs no policy for the first time.
    if (second && !again_.reinvoke.contains(invocation.key())) return {};
    bool changed = false;
    for (const auto& mutation : policy.mutator->mutations) {
      // There is nothing to change in a connect.
      if (version_.objects().object == nullptr) break;
      RETURN_IF_ERROR(Mutate(invocation, *mutation, changed));
    }
    if (changed) {
      again_.RequirePrevious();
      attributes_.reinvocation->SetShouldReinvoke();
    }
    if (policy.reinvoke_if_needed) again_.previously_invoked.insert(invocation.key());
    return {};
  }

  Result<Variables> VariablesOf(const Invocation& invocation) {
    const Policy& policy = invocation.policy;
    // The object of the last call may be another one, at the same address.
    values_.ForgetObjects();
    return values_.For(ctx_, invocation.matched, version_.objects(), invocation.param.get(),
                       policy.param_kind ? &*policy.param_kind : nullptr);
  }

  Status Mutate(const Invocation& invocation, const Mutation& mutation, bool& changed) {
    // Each mutation sees what those before it did.
    ASSIGN_OR_RETURN(const Variables variables, VariablesOf(invocation));
    const runtime::Object& before = *version_.objects().object;
    const Clock::Monotonic began =
        attributes_.metrics ? attributes_.metrics->clock().Now() : Clock::Monotonic();
    auto mutated = mutation.Apply(ctx_, variables, before);
    if (mutated.ok() && *mutated) {
      const Status settled = runtime::Settle(**mutated, {.growth_max = runtime::kPatchedGrowthMax});
      if (!settled.ok()) mutated = settled;
    }
    Observe(invocation, mutated.status(), began);
    if (!mutated.ok()) {
      if (mutated.status().reason() != Reason::kInvalid) return mutated.status();
      Fail(invocation.policy, &invocation.binding, mutated.status().message(), Reason::kInvalid);
      return {};
    }
    // Counted although nothing may have changed, as upstream: a second round follows.
    mutated_ = true;
    if (!*mutated) return {};
    if (!((*mutated)->root() == before.root())) changed = true;
    version_.Set(*std::move(mutated));
    return {};
  }

  void Observe(const Invocation& invocation, const Status& status, Clock::Monotonic began) const {
    if (!attributes_.metrics) return;
    attributes_.metrics->policies().ObserveMutating(
        {.policy = invocation.policy.name,
         .binding = invocation.binding.name,
         .error_type = status.ok() ? "no_error" : ErrorTypeOf(status.message()),
         .took = attributes_.metrics->clock().Now() - began});
  }

  Status Misconfigured(const Policy& policy, const Binding* binding, const Status& error) {
    if (error.reason() == Reason::kWouldBlock) return error;
    const char* const what =
        binding ? "failed to configure binding: " : "failed to configure policy: ";
    Fail(policy, binding, what + std::string(error.message()), Reason::kForbidden);
    return {};
  }

  // Notes a failure, if the failure policy does not ignore it.
  void Fail(const Policy& policy, const Binding* binding, std::string_view message, Reason reason) {
    if (policy.fail_open) return;
    std::string text = binding ? "policy '" + policy.name + "' with binding '" + binding->name + "'"
                               : "policy " + field::Quote(policy.name);
    text += " denied request: " + std::string(message);
    if (failures_.empty()) reason_ = reason;
    failures_.push_back({.message = std::move(text)});
  }

  Status Answer() const {
    if (failures_.empty()) return {};
    const Status forbidden = NewForbidden(attributes_, "admission request denied by policy");
    StatusDetails details = forbidden.details() ? *forbidden.details() : StatusDetails();
    details.causes = failures_;
    // The code stays that of Forbidden whatever the reason is, as upstream.
    return Status(reason_, failures_.front().message)
        .WithDetails(std::move(details))
        .WithCode(forbidden.code());
  }

  const Context& ctx_;
  const PolicyDispatcher& dispatcher_;
  Attributes& attributes_;
  PolicyReinvocation& again_;
  RequestValues values_;
  WrittenVersion version_;
  std::vector<Invocation> invocations_;
  bool mutated_ = false;
  Reason reason_ = Reason::kForbidden;
  std::vector<StatusCause> failures_;
};

class MutatingPolicyAdmission final : public Plugin {
 public:
  explicit MutatingPolicyAdmission(PolicyAdmissionOptions options)
      : dispatcher_(std::move(options)) {}

  std::string_view name() const override { return kPluginName; }
  // A delete has no object to change.
  bool Handles(Operation operation) const override { return operation != Operation::kDelete; }
  bool RunsInline(Operation, std::string_view) const override { return dispatcher_.Idle(); }
  bool validates() const override { return false; }

  Status Admit(const Context& ctx, Attributes& attributes) const override {
    ASSIGN_OR_RETURN(const auto snapshot, dispatcher_.SnapshotFor(attributes));
    if (!snapshot) return {};
    const std::vector<std::uint32_t> candidates = snapshot->Candidates(attributes);
    if (candidates.empty()) return {};
    RETURN_IF_ERROR(PolicyDispatcher::RequireAuthorizer(ctx, *snapshot, candidates));
    MutatingPass pass(ctx, dispatcher_, attributes);
    for (const std::uint32_t index : candidates) {
      RETURN_IF_ERROR(pass.Collect(snapshot->hooks()[index]));
    }
    return pass.Run();
  }

 private:
  const PolicyDispatcher dispatcher_;
};

}  // namespace

}  // namespace apiserver::v0::admission::policy

namespace apiserver::v0::admission {

std::shared_ptr<const Plugin> NewMutatingPolicyAdmission(PolicyAdmissionOptions options) {
  return std::make_shared<policy::MutatingPolicyAdmission>(std::move(options));
}

}  // namespace apiserver::v0::admission
