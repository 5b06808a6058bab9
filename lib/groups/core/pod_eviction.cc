#include "groups/core/pod_eviction.h"

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "groups/core/pod_condition.h"
#include "groups/core/pod_strategy.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Object;
using runtime::Value;

// Marks a pod as one that is evicted, if it is the one that is meant.
class Disruption final : public rest::UpdatedObjectInfo {
 public:
  Disruption(const meta::Preconditions& preconditions, const Clock& clock)
      : preconditions_(preconditions), clock_(clock) {}

  Result<std::unique_ptr<Object>> UpdatedObject(const Context& /*ctx*/,
                                                const runtime::ObjectPtr& old) const override {
    if (old == nullptr) return Status(Reason::kNotFound, "the pod is gone");
    RETURN_IF_ERROR(
        Check("UID", preconditions_.uid, old->uid(), old->name(), "deleted and then recreated"));
    RETURN_IF_ERROR(Check("ResourceVersion", preconditions_.resource_version,
                          old->resource_version(), old->name(), "modified"));
    std::unique_ptr<Object> pod = old->Clone();
    SetPodCondition(*pod,
                    {.type = "DisruptionTarget",
                     .status = "True",
                     .reason = "EvictionByEvictionAPI",
                     .message = "Eviction API: evicting"},
                    clock_);
    return pod;
  }

 private:
  static Status Check(const std::string& what, const std::optional<std::string>& wanted,
                      std::string_view is, std::string_view name, const std::string& happened) {
    if (wanted.value_or("").empty() || *wanted == is) return {};
    return meta::NewConflict({"", "Pod"}, name,
                             "the " + what + " in the precondition (" + *wanted +
                                 ") does not match the " + what + " in record (" + std::string(is) +
                                 "). The object might have been " + happened);
  }

  const meta::Preconditions& preconditions_;
  const Clock& clock_;
};

Status CheckUnsafe(const Object& eviction) {
  constexpr const char* kUnsafe = "ignoreStoreReadErrorWithClusterBreakingPotential";
  if (!eviction["deleteOptions"][kUnsafe].AsBool()) return {};
  field::ErrorList errors;
  errors.InvalidPrinted(field::Path("deleteOptions").Child(kUnsafe), "true",
                        "can not be set for pod eviction, try after removing the option");
  return meta::NewInvalid({"policy", "Eviction"}, eviction.name(), errors);
}

class PodEviction final : public rest::Storage,
                          public rest::NamedCreater,
                          public rest::GroupVersionKindProvider,
                          public rest::GroupVersionAcceptor {
 public:
  PodEviction(std::shared_ptr<registry::Store> pods, runtime::KindPtr kind, const Clock& clock)
      : pods_(std::move(pods)), kind_(std::move(kind)), clock_(clock) {}

  std::unique_ptr<Object> New() const override {
    return std::make_unique<Object>(kind_, kind_->hub_version());
  }
  runtime::GroupVersionKind GetGroupVersionKind(
      const runtime::GroupVersion& /*containing*/) const override {
    return kind_->gvk(kind_->hub_version());
  }
  bool AcceptsGroupVersion(const runtime::GroupVersion& gv) const override {
    return gv.group == kind_->group() && kind_->FindVersion(gv.version) != nullptr;
  }

  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view name,
                                    std::unique_ptr<Object> eviction,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& options) override {
    if (name != eviction->name()) {
      return meta::NewBadRequest("name in URL does not match name in Eviction object");
    }
    RETURN_IF_ERROR(CheckUnsafe(*eviction));
    meta::DeleteOptions how;
    if (const Value body = (*eviction)["deleteOptions"]; !body.is_null()) {
      ASSIGN_OR_RETURN(how, meta::DeleteOptionsFrom(body));
    }
    how.dry_run |= options.dry_run;
    if (validate) RETURN_IF_ERROR(validate(ctx, *eviction));
    RETURN_IF_ERROR(pods_->Get(ctx, name, {}).status());
    if (!how.dry_run) RETURN_IF_ERROR(Disrupt(ctx, name, how.preconditions));
    RETURN_IF_ERROR(pods_->Delete(ctx, name, {}, how).status());
    return runtime::ObjectPtr();
  }

 private:
  // A version that was asked for is that of the pod before this write.
  Status Disrupt(const Context& ctx, std::string_view name,
                 meta::Preconditions& preconditions) const {
    const Disruption disruption(preconditions, clock_);
    const rest::ValidateObject no_create;
    const rest::ValidateObjectUpdate no_update;
    const rest::UpdateRequest request{.info = disruption,
                                      .validate_create = no_create,
                                      .validate_update = no_update,
                                      .options = {}};
    ASSIGN_OR_RETURN(const rest::UpdateResult updated,
                     pods_->UpdateWith(*NewPodStatusStrategy(), ctx, name, request,
                                       runtime::SchemaPart::kStatus));
    if (preconditions.resource_version) {
      preconditions.resource_version = std::string(updated.object->resource_version());
    }
    return {};
  }

  const std::shared_ptr<registry::Store> pods_;
  const runtime::KindPtr kind_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<rest::Storage> NewPodEviction(std::shared_ptr<registry::Store> pods,
                                              runtime::KindPtr kind, const Clock& clock) {
  return std::make_shared<PodEviction>(std::move(pods), std::move(kind), clock);
}

}  // namespace apiserver::v0::groups::core
