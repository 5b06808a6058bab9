#include "aggregator/kind/strategy.h"

#include <string_view>

#include "aggregator/kind/validation.h"
#include "apiserver/aggregator/api_service.h"
#include "apiserver/rest/status.h"

namespace apiserver::v0::aggregator {
namespace {

using runtime::Object;
using runtime::Value;

class APIServiceStrategy final : public rest::Strategy {
 public:
  explicit APIServiceStrategy(const Clock& clock) : clock_(clock) {}

  bool NamespaceScoped() const override { return false; }
  void PrepareForCreate(const Context& /*ctx*/, Object& object) const override {
    object.SetPath({"status"}, Value::Map({}));
    // A local APIService is available without a check.
    if (object["spec"]["service"].is_null()) {
      SetCondition(object, LocalAvailableCondition(), clock_.WallNow());
    }
  }
  void PrepareForUpdate(const Context& /*ctx*/, Object& object, const Object& old) const override {
    rest::KeepStatus(object, old);
  }
  field::ErrorList Validate(const Context& /*ctx*/, const Object& object) const override {
    return ValidateAPIService(object);
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& object,
                                  const Object& old) const override {
    return ValidateAPIServiceUpdate(object, old);
  }
  rest::ResetFields GetResetFields() const override {
    return rest::StatusFields(*APIServiceKind());
  }

 private:
  const Clock& clock_;
};

void Restore(Object& object, const Object& old, std::string_view field) {
  const Value before = old.metadata()[field];
  if (before == object.metadata()[field]) return;
  if (before.is_null()) return object.Erase("metadata", field);
  object.Edit("metadata", field) = before;
}

class APIServiceStatusStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return false; }
  void PrepareForUpdate(const Context& /*ctx*/, Object& object, const Object& old) const override {
    if (!(object["spec"] == old["spec"])) object.Edit("spec") = old["spec"];
    for (const std::string_view field :
         {"labels", "annotations", "finalizers", "ownerReferences"}) {
      Restore(object, old, field);
    }
  }
  field::ErrorList Validate(const Context& /*ctx*/, const Object& object) const override {
    return ValidateAPIServiceStatusUpdate(object, object);
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& object,
                                  const Object& old) const override {
    return ValidateAPIServiceStatusUpdate(object, old);
  }
  rest::ResetFields GetResetFields() const override {
    return rest::AllButStatusFields(*APIServiceKind());
  }
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewAPIServiceStrategy(const Clock& clock) {
  return std::make_shared<APIServiceStrategy>(clock);
}

std::shared_ptr<const rest::Strategy> NewAPIServiceStatusStrategy() {
  return std::make_shared<APIServiceStatusStrategy>();
}

}  // namespace apiserver::v0::aggregator
