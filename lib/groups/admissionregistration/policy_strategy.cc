#include "groups/admissionregistration/policy_strategy.h"

#include <string>
#include <utility>
#include <vector>

#include "apiserver/rest/status.h"
#include "groups/admissionregistration/policy_kinds.h"
#include "groups/admissionregistration/policy_validation.h"

namespace apiserver::v0::groups::admissionregistration {

namespace {

using runtime::Object;

std::vector<std::string> WarningsFor(std::string_view name) {
  if (!name.ends_with(".static.k8s.io")) return {};
  return {
      "metadata.name: names ending with \".static.k8s.io\" are reserved for static manifest-based "
      "configurations and cannot be managed via the API"};
}

// Follows strategy.go of pkg/registry/admissionregistration/{validating,mutating}admissionpolicy
// and their bindings.
class PolicyStrategy final : public rest::Strategy {
 public:
  PolicyStrategy(runtime::KindPtr kind, std::shared_ptr<const ParamAccess> access,
                 admission::policy::NewExpressionChecker new_checker)
      : kind_(std::move(kind)),
        access_(std::move(access)),
        new_checker_(std::move(new_checker)),
        binding_(IsBinding(*kind_)) {}

  bool NamespaceScoped() const override { return false; }
  void PrepareForCreate(const Context& /*ctx*/, Object& object) const override {
    // Only the subresource writes the status, and a client cannot choose the generation.
    object.Erase("status");
    object.Edit("metadata", "generation") = 1;
  }
  void PrepareForUpdate(const Context& /*ctx*/, Object& object, const Object& old) const override {
    if (HasStatus(*kind_)) rest::KeepStatus(object, old);
    const bool changed = !(object["spec"] == old["spec"]);
    object.Edit("metadata", "generation") = old.generation() + (changed ? 1 : 0);
  }
  field::ErrorList Validate(const Context& ctx, const Object& object) const override {
    return Check(ctx, object, nullptr);
  }
  field::ErrorList ValidateUpdate(const Context& ctx, const Object& object,
                                  const Object& old) const override {
    return Check(ctx, object, &old);
  }
  std::vector<std::string> WarningsOnCreate(const Context& /*ctx*/,
                                            const Object& object) const override {
    return WarningsFor(object.name());
  }
  std::vector<std::string> WarningsOnUpdate(const Context& /*ctx*/, const Object& object,
                                            const Object& /*old*/) const override {
    return WarningsFor(object.name());
  }
  rest::ResetFields GetResetFields() const override {
    return HasStatus(*kind_) ? rest::StatusFields(*kind_) : rest::ResetFields();
  }

 private:
  field::ErrorList Check(const Context& ctx, const Object& object, const Object* old) const {
    field::ErrorList errors =
        binding_ ? ValidatePolicyBinding(object) : ValidatePolicy(object, old, *new_checker_());
    if (!errors.empty()) return errors;
    // A writer must not learn by a policy what it may not read.
    const Status allowed =
        binding_ ? access_->CheckBinding(ctx, object) : access_->CheckPolicy(ctx, object, old);
    if (!allowed.ok()) {
      errors.Forbidden(field::Path("spec").Child(binding_ ? "paramRef" : "paramKind"),
                       std::string(allowed.message()));
    }
    return errors;
  }

  const runtime::KindPtr kind_;
  const std::shared_ptr<const ParamAccess> access_;
  const admission::policy::NewExpressionChecker new_checker_;
  const bool binding_;
};

class StatusStrategy final : public rest::Strategy {
 public:
  explicit StatusStrategy(runtime::KindPtr kind) : kind_(std::move(kind)) {}

  bool NamespaceScoped() const override { return false; }
  void PrepareForUpdate(const Context& /*ctx*/, Object& object, const Object& old) const override {
    rest::KeepAllButStatus(object, old);
  }
  field::ErrorList Validate(const Context& /*ctx*/, const Object& object) const override {
    return ValidatePolicyStatus(object);
  }
  std::vector<std::string> WarningsOnUpdate(const Context& /*ctx*/, const Object& object,
                                            const Object& /*old*/) const override {
    return WarningsFor(object.name());
  }
  rest::ResetFields GetResetFields() const override { return rest::AllButStatusFields(*kind_); }

 private:
  const runtime::KindPtr kind_;
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewPolicyStrategy(
    const runtime::KindPtr& kind, std::shared_ptr<const ParamAccess> access,
    admission::policy::NewExpressionChecker new_checker) {
  return std::make_shared<PolicyStrategy>(kind, std::move(access), std::move(new_checker));
}

std::shared_ptr<const rest::Strategy> NewPolicyStatusStrategy(const runtime::KindPtr& kind) {
  return std::make_shared<StatusStrategy>(kind);
}

}  // namespace apiserver::v0::groups::admissionregistration
