#include "groups/rbac/strategy.h"

#include "groups/rbac/validation.h"

namespace apiserver::v0::groups::rbac {
namespace {

using Create = field::ErrorList (*)(const runtime::Object& object);
using Update = field::ErrorList (*)(const runtime::Object& now, const runtime::Object& before);

// Escalation is not the strategy's to check; see escalation.cc, which wraps the stores.
class RbacStrategy final : public rest::Strategy {
 public:
  RbacStrategy(bool namespaced, Create validate, Update validate_update)
      : namespaced_(namespaced), validate_(validate), validate_update_(validate_update) {}

  bool NamespaceScoped() const override { return namespaced_; }
  field::ErrorList Validate(const Context& /*ctx*/, const runtime::Object& object) const override {
    return validate_(object);
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const runtime::Object& object,
                                  const runtime::Object& old) const override {
    return validate_update_(object, old);
  }
  // As upstream: a PUT may create RBAC objects.
  bool AllowCreateOnUpdate() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }

 private:
  const bool namespaced_;
  const Create validate_;
  const Update validate_update_;
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewRoleStrategy(bool namespaced) {
  return std::make_shared<RbacStrategy>(namespaced, &ValidateRole, &ValidateRoleUpdate);
}

std::shared_ptr<const rest::Strategy> NewBindingStrategy(bool namespaced) {
  return std::make_shared<RbacStrategy>(namespaced, &ValidateBinding, &ValidateBindingUpdate);
}

}  // namespace apiserver::v0::groups::rbac
