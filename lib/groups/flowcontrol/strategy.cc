#include "groups/flowcontrol/strategy.h"

#include "apiserver/meta/validation.h"
#include "apiserver/rest/status.h"
#include "groups/flowcontrol/names.h"
#include "groups/flowcontrol/validation.h"

namespace apiserver::v0::groups::flowcontrol {
namespace {

// The strategy of the objects themselves: it ignores the status, which only the subresource writes.
class MainStrategy final : public rest::Strategy {
 public:
  explicit MainStrategy(runtime::KindPtr kind) : kind_(std::move(kind)) {}

  bool NamespaceScoped() const override { return false; }
  bool AllowUnconditionalUpdate() const override { return true; }
  void PrepareForCreate(const Context& /*ctx*/, runtime::Object& object) const override {
    object.Erase("status");
  }
  void PrepareForUpdate(const Context& /*ctx*/, runtime::Object& object,
                        const runtime::Object& old) const override {
    rest::KeepStatus(object, old);
  }
  field::ErrorList Validate(const Context& /*ctx*/, const runtime::Object& object) const override {
    return kind_->plural() == kFlowSchemas ? ValidateFlowSchema(object)
                                           : ValidatePriorityLevel(object);
  }
  rest::ResetFields GetResetFields() const override { return rest::StatusFields(*kind_); }

 private:
  const runtime::KindPtr kind_;
};

// The strategy of the subresource status, which changes nothing else.
class StatusStrategy final : public rest::Strategy {
 public:
  explicit StatusStrategy(runtime::KindPtr kind) : kind_(std::move(kind)) {}

  bool NamespaceScoped() const override { return false; }
  bool AllowUnconditionalUpdate() const override { return true; }
  void PrepareForUpdate(const Context& /*ctx*/, runtime::Object& object,
                        const runtime::Object& old) const override {
    rest::KeepAllButStatus(object, old);
  }
  field::ErrorList Validate(const Context& /*ctx*/, const runtime::Object& object) const override {
    return ValidateStatus(object);
  }
  rest::ResetFields GetResetFields() const override { return rest::AllButStatusFields(*kind_); }

 private:
  const runtime::KindPtr kind_;
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewStrategy(const runtime::KindPtr& kind) {
  return std::make_shared<MainStrategy>(kind);
}

std::shared_ptr<const rest::Strategy> NewStatusStrategy(const runtime::KindPtr& kind) {
  return std::make_shared<StatusStrategy>(kind);
}

}  // namespace apiserver::v0::groups::flowcontrol
