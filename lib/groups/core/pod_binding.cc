#include "groups/core/pod_binding.h"

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "groups/core/checks.h"
#include "groups/core/pod_condition.h"

namespace apiserver::v0::groups::core {
namespace {

using runtime::Object;
using runtime::Value;

// An assignment changes what no client may: nothing of it is validated again.
class AsIs final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return true; }
  field::ErrorList Validate(const Context& /*ctx*/, const Object& /*object*/) const override {
    return {};
  }
};

// Makes the pod that is assigned from the stored one.
class Assignment final : public rest::UpdatedObjectInfo {
 public:
  Assignment(const Object& binding, const Clock& clock) : binding_(binding), clock_(clock) {}

  meta::Preconditions GetPreconditions() const override {
    meta::Preconditions preconditions;
    if (!binding_.uid().empty()) preconditions.uid = std::string(binding_.uid());
    if (!binding_.resource_version().empty()) {
      preconditions.resource_version = std::string(binding_.resource_version());
    }
    return preconditions;
  }

  Result<std::unique_ptr<Object>> UpdatedObject(const Context& /*ctx*/,
                                                const runtime::ObjectPtr& old) const override {
    if (old == nullptr) return meta::NewNotFound({"", "pods"}, binding_.name());
    RETURN_IF_ERROR(CheckUnassigned(*old));
    std::unique_ptr<Object> pod = old->Clone();
    pod->Edit("spec", "nodeName") = binding_["target"]["name"].AsString();
    // A wish for another node is of no use any more.
    pod->Erase("status", "nominatedNodeName");
    for (const char* const map : {"annotations", "labels"}) {
      for (const runtime::Member& member : binding_.metadata()[map].members()) {
        pod->Edit("metadata", map, member.key) = member.value;
      }
    }
    SetPodCondition(*pod, {.type = "PodScheduled", .status = "True"}, clock_);
    return pod;
  }

 private:
  static Status CheckUnassigned(const Object& pod) {
    const std::string name(pod.name());
    const Value node = pod["spec"]["nodeName"];
    std::string why;
    if (pod.deleting()) {
      why = "pod " + name + " is being deleted, cannot be assigned to a host";
    } else if (node.size() != 0) {
      why = "pod " + name + " is already assigned to node " + field::QuoteShort(node.AsString());
    } else if (pod["spec"]["schedulingGates"].size() != 0) {
      why = "pod " + name + " has non-empty .spec.schedulingGates";
    }
    if (why.empty()) return {};
    return meta::NewConflict({"", "pods/binding"}, name, why);
  }

  const Object& binding_;
  const Clock& clock_;
};

// Follows ValidatePodBinding. Upstream answers as for an error that it does not know.
Status CheckBinding(const Object& binding) {
  field::ErrorList errors;
  const Value target = binding["target"];
  if (const std::string_view kind = target["kind"].AsString(); !kind.empty()) {
    CheckWord(errors, field::Path("target.kind"), kind, {"Node", "<empty>"});
  }
  CheckPresent(errors, field::Path("target"), target, "name");
  return errors.empty() ? Status() : Status(Reason::kUnknown, errors.Aggregate());
}

// Assigns pods of a store.
class Binder {
 public:
  Binder(std::shared_ptr<registry::Store> pods, const Clock& clock)
      : pods_(std::move(pods)), clock_(clock) {}

  // Returns no object: the answer is a Status.
  Result<runtime::ObjectPtr> Bind(const Context& ctx, std::string_view name, const Object& binding,
                                  const rest::ValidateObject& validate,
                                  const meta::CreateOptions& options) const {
    if (name != binding.name()) {
      return meta::NewBadRequest("name in URL does not match name in Binding object");
    }
    RETURN_IF_ERROR(CheckBinding(binding));
    if (validate) RETURN_IF_ERROR(validate(ctx, binding));
    const Assignment assignment(binding, clock_);
    const rest::ValidateObject no_create;
    const rest::ValidateObjectUpdate no_update;
    const rest::UpdateRequest request{.info = assignment,
                                      .validate_create = no_create,
                                      .validate_update = no_update,
                                      .options = {.dry_run = options.dry_run}};
    RETURN_IF_ERROR(
        pods_->UpdateWith(AsIs(), ctx, name, request, runtime::SchemaPart::kNone).status());
    return runtime::ObjectPtr();
  }

 private:
  const std::shared_ptr<registry::Store> pods_;
  const Clock& clock_;
};

class PodBinding final : public rest::Storage,
                         public rest::NamedCreater,
                         public rest::SubresourceObjectMetaPreserver {
 public:
  PodBinding(std::shared_ptr<registry::Store> pods, runtime::KindPtr kind, const Clock& clock)
      : kind_(std::move(kind)), binder_(std::move(pods), clock) {}

  std::unique_ptr<Object> New() const override {
    return std::make_unique<Object>(kind_, kind_->hub_version());
  }
  // They are preconditions on the pod.
  bool PreserveRequestObjectMetaSystemFieldsOnSubresourceCreate() const override { return true; }
  Result<runtime::ObjectPtr> Create(const Context& ctx, std::string_view name,
                                    std::unique_ptr<Object> object,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& options) override {
    return binder_.Bind(ctx, name, *object, validate, options);
  }

 private:
  const runtime::KindPtr kind_;
  const Binder binder_;
};

class LegacyBinding final : public rest::Storage,
                            public rest::Scoper,
                            public rest::SingularNameProvider,
                            public rest::Creater {
 public:
  LegacyBinding(std::shared_ptr<registry::Store> pods, runtime::KindPtr kind, const Clock& clock)
      : kind_(std::move(kind)), binder_(std::move(pods), clock) {}

  std::unique_ptr<Object> New() const override {
    return std::make_unique<Object>(kind_, kind_->hub_version());
  }
  bool NamespaceScoped() const override { return true; }
  std::string GetSingularName() const override { return "binding"; }
  Result<runtime::ObjectPtr> Create(const Context& ctx, std::unique_ptr<Object> object,
                                    const rest::ValidateObject& validate,
                                    const meta::CreateOptions& options) override {
    return binder_.Bind(ctx, object->name(), *object, validate, options);
  }

 private:
  const runtime::KindPtr kind_;
  const Binder binder_;
};

}  // namespace

std::shared_ptr<rest::Storage> NewPodBinding(std::shared_ptr<registry::Store> pods,
                                             runtime::KindPtr kind, const Clock& clock) {
  return std::make_shared<PodBinding>(std::move(pods), std::move(kind), clock);
}

std::shared_ptr<rest::Storage> NewLegacyBinding(std::shared_ptr<registry::Store> pods,
                                                runtime::KindPtr kind, const Clock& clock) {
  return std::make_shared<LegacyBinding>(std::move(pods), std::move(kind), clock);
}

}  // namespace apiserver::v0::groups::core
