#include "apiextensions/serving/strategy.h"

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apiserver/meta/validation.h"
#include "apiserver/rest/kind_strategy.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Object;

// Finalizers that are not expected to name a domain.
bool IsStandard(std::string_view finalizer) {
  return finalizer == meta::kFinalizerOrphanDependents ||
         finalizer == meta::kFinalizerDeleteDependents || finalizer == "kubernetes";
}

// Follows validateKubeFinalizerName of pkg/registry/customresource/validator.go.
void WarnOfFinalizer(std::string_view finalizer, std::vector<std::string>& warnings) {
  const std::string about = "metadata.finalizers: " + field::Quote(finalizer) + ": ";
  for (const std::string& complaint : meta::IsQualifiedName(finalizer)) {
    warnings.push_back(about + complaint);
  }
  if (finalizer.find('/') != std::string_view::npos || IsStandard(finalizer)) return;
  const bool has_domain = finalizer.find('.') != std::string_view::npos;
  warnings.push_back(about + "prefer a domain-qualified finalizer name " +
                     (has_domain ? "including a path (/) " : "") +
                     "to avoid accidental conflicts with other finalizer writers");
}

// Returns warnings about the finalizers that `old`, if not null, does not have; sorted, as
// upstream's set of them is.
std::vector<std::string> WarningsAbout(const Object& object, const Object* old) {
  std::set<std::string_view> added;
  for (const runtime::Value& each : object.finalizers().items()) added.insert(each.AsString());
  if (old != nullptr) {
    for (const runtime::Value& each : old->finalizers().items()) added.erase(each.AsString());
  }
  std::vector<std::string> warnings;
  for (const std::string_view finalizer : added) WarnOfFinalizer(finalizer, warnings);
  return warnings;
}

class CustomStrategy final : public rest::Strategy {
 public:
  explicit CustomStrategy(const runtime::KindPtr& kind) : base_(rest::NewKindStrategy(kind)) {}

  bool NamespaceScoped() const override { return base_->NamespaceScoped(); }
  void PrepareForCreate(const Context& ctx, Object& object) const override {
    base_->PrepareForCreate(ctx, object);
  }
  void PrepareForUpdate(const Context& ctx, Object& object, const Object& old) const override {
    base_->PrepareForUpdate(ctx, object, old);
  }
  field::ErrorList Validate(const Context&, const Object& object) const override {
    return meta::ValidateObjectMeta(object.metadata(), NamespaceScoped(), meta::NameIsDNSSubdomain,
                                    field::Path("metadata"));
  }
  // The metadata of an update are compared with the old ones, whose name stays.
  field::ErrorList ValidateUpdate(const Context&, const Object&, const Object&) const override {
    return {};
  }
  std::vector<std::string> WarningsOnCreate(const Context&, const Object& object) const override {
    return WarningsAbout(object, nullptr);
  }
  std::vector<std::string> WarningsOnUpdate(const Context&, const Object& object,
                                            const Object& old) const override {
    return WarningsAbout(object, &old);
  }
  rest::ResetFields GetResetFields() const override { return base_->GetResetFields(); }

 private:
  const std::shared_ptr<const rest::Strategy> base_;
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewCustomStrategy(const runtime::KindPtr& kind) {
  return std::make_shared<CustomStrategy>(kind);
}

}  // namespace apiserver::v0::apiextensions
