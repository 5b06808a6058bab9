#include "groups/core/namespace_strategy.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/meta/validation.h"
#include "apiserver/rest/status.h"
#include "groups/columns.h"
#include "groups/core/checks.h"

namespace apiserver::v0::groups::core {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";
constexpr std::string_view kFinalizer = "kubernetes";

void LabelWithName(Object& object) {
  if (object.labels()[kNameLabel].AsString() == object.name()) return;
  object.Edit("metadata", "labels", kNameLabel) = std::string(object.name());
}

void KeepSpec(Object& object, const Object& old) {
  if (!(object["spec"] == old["spec"])) object.Edit("spec") = old["spec"];
}

void SetMetaFinalizers(Object& object, const std::vector<std::string>& finalizers) {
  if (finalizers.empty()) return object.Erase("metadata", "finalizers");
  runtime::ListBuilder list(object.arena());
  for (const std::string& each : finalizers) {
    list.Add(Value::String(object.arena().Copy(each)));
  }
  object.SetPath({"metadata", "finalizers"}, list.Build());
}

// The wish for a collector's finalizer: what the options say, else what the object has.
bool Wants(const meta::DeleteOptions& options, meta::DeletionPropagation policy, bool has) {
  const bool orphan = policy == meta::DeletionPropagation::kOrphan;
  if (options.orphan_dependents) return *options.orphan_dependents == orphan;
  if (options.propagation_policy == meta::DeletionPropagation::kUnset) return has;
  return options.propagation_policy == policy;
}

// Follows REST.Delete.
void Terminate(Object& object, const meta::DeleteOptions& options) {
  object.Edit("status", "phase") = "Terminating";
  std::vector<std::string> before;
  for (const Value& each : object.finalizers().items()) before.emplace_back(each.AsString());
  std::vector<std::string> after = before;
  for (const auto& [name, policy] :
       {std::pair(meta::kFinalizerOrphanDependents, meta::DeletionPropagation::kOrphan),
        std::pair(meta::kFinalizerDeleteDependents, meta::DeletionPropagation::kForeground)}) {
    const bool has = std::ranges::find(before, name) != before.end();
    const bool wants = Wants(options, policy, has);
    if (has && !wants) std::erase(after, name);
    if (!has && wants) after.emplace_back(name);
  }
  if (after != before) SetMetaFinalizers(object, after);
}

ErrorList ValidateNamespace(const Object& object) {
  ErrorList errors =
      ValidateCoreMeta(object.metadata(), /*namespaced=*/false, meta::NameIsDNSLabel);
  for (const Value& each : object["spec"]["finalizers"].items()) {
    // Upstream does not tell which of them.
    CheckFinalizer(errors, Path("spec.finalizers"), each.AsString());
  }
  return errors;
}

class NamespaceStrategy : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return false; }
  bool AllowUnconditionalUpdate() const override { return true; }
  void PrepareForCreate(const Context& /*ctx*/, Object& object) const override {
    object.Erase("status");
    object.Edit("status", "phase") = "Active";
    // Adds the finalizer that keeps a namespace until it is emptied.
    const Value given = object["spec"]["finalizers"];
    runtime::ListBuilder finalizers(object.arena());
    bool has = false;
    for (const Value& each : given.items()) {
      has = has || each.AsString() == kFinalizer;
      finalizers.Add(each);
    }
    if (has) return;
    finalizers.Add(Value::String(kFinalizer));
    object.SetPath({"spec", "finalizers"}, finalizers.Build());
  }
  void PrepareForUpdate(const Context& /*ctx*/, Object& object, const Object& old) const override {
    KeepSpec(object, old);
    rest::KeepStatus(object, old);
  }
  ErrorList Validate(const Context& /*ctx*/, const Object& object) const override {
    return ValidateNamespace(object);
  }
  ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& object,
                           const Object& old) const override {
    ErrorList errors = ValidateNamespace(object);
    errors.Append(ValidateCoreMetaUpdate(object.metadata(), old.metadata()));
    return errors;
  }
  // Again after the defaults: one from generateName has its name only now.
  void Canonicalize(Object& object) const override { LabelWithName(object); }
  rest::ResetFields GetResetFields() const override { return {{"v1", {{"status"}}}}; }
};

class NamespaceStatusStrategy final : public NamespaceStrategy {
 public:
  void PrepareForUpdate(const Context& /*ctx*/, Object& object, const Object& old) const override {
    KeepSpec(object, old);
  }
  ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& object,
                           const Object& old) const override {
    ErrorList errors = ValidateCoreMetaUpdate(object.metadata(), old.metadata());
    const std::string_view phase = object["status"]["phase"].AsString();
    if (!object.deleting() && phase != "Active") {
      errors.Invalid(Path("status.Phase"), phase,
                     "may only be 'Active' if `deletionTimestamp` is empty");
    } else if (object.deleting() && phase != "Terminating") {
      errors.Invalid(Path("status.Phase"), phase,
                     "may only be 'Terminating' if `deletionTimestamp` is not empty");
    }
    return errors;
  }
  rest::ResetFields GetResetFields() const override { return {{"v1", {{"spec"}}}}; }
};

class NamespaceFinalizeStrategy final : public NamespaceStrategy {
 public:
  void PrepareForUpdate(const Context& /*ctx*/, Object& object, const Object& old) const override {
    rest::KeepStatus(object, old);
  }
  ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& object,
                           const Object& old) const override {
    ErrorList errors = ValidateCoreMetaUpdate(object.metadata(), old.metadata());
    std::size_t i = 0;
    for (const Value& each : object["spec"]["finalizers"].items()) {
      CheckFinalizer(errors, Path("spec.finalizers").Index(i++), each.AsString());
    }
    return errors;
  }
};

// Only PUT: what cannot be read cannot be patched.
class NamespaceFinalize final : public rest::Storage,
                                public rest::Updater,
                                public rest::ResetFieldsProvider {
 public:
  explicit NamespaceFinalize(std::shared_ptr<registry::Store> namespaces)
      : namespaces_(std::move(namespaces)) {}

  std::unique_ptr<Object> New() const override { return namespaces_->New(); }
  rest::ResetFields GetResetFields() const override { return strategy_.GetResetFields(); }
  Result<rest::UpdateResult> Update(const Context& ctx, std::string_view name,
                                    const rest::UpdateRequest& request) override {
    const rest::UpdateRequest only_update{.info = request.info,
                                          .validate_create = request.validate_create,
                                          .validate_update = request.validate_update,
                                          .options = request.options};
    return namespaces_->UpdateWith(strategy_, ctx, name, only_update, runtime::SchemaPart::kNone);
  }

 private:
  const std::shared_ptr<registry::Store> namespaces_;
  const NamespaceFinalizeStrategy strategy_;
};

}  // namespace

void SetNamespaceDefaults(Object& object) {
  if (!object.name().empty()) LabelWithName(object);
  if (object["status"]["phase"].size() == 0) object.Edit("status", "phase") = "Active";
}

std::shared_ptr<const rest::Strategy> NewNamespaceStrategy() {
  return std::make_shared<NamespaceStrategy>();
}
std::shared_ptr<const rest::Strategy> NewNamespaceStatusStrategy() {
  return std::make_shared<NamespaceStatusStrategy>();
}
std::shared_ptr<rest::Storage> NewNamespaceFinalize(std::shared_ptr<registry::Store> namespaces) {
  return std::make_shared<NamespaceFinalize>(std::move(namespaces));
}

std::shared_ptr<const rest::TableConvertor> NewNamespaceColumns(const Clock& clock) {
  return NewColumns(
      {NameColumn(), TextColumn("Status", "Active or Terminating."), AgeColumn()},
      [](const Object& object, Cells& cells) {
        cells.Text(object.name()).Text(object["status"]["phase"].AsString()).Age(object);
      },
      clock);
}

void EndNamespacesInTwoSteps(registry::StoreOptions& options) {
  options.return_deleted_object = true;
  options.delete_collection = false;
  options.mark_deleted = &Terminate;
  options.stays_deleted = [](const Object& object) {
    return object["spec"]["finalizers"].size() > 0;
  };
}

}  // namespace apiserver::v0::groups::core
