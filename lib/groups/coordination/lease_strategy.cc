#include "groups/coordination/lease_strategy.h"

#include <string_view>

#include "apiserver/meta/validation.h"
#include "groups/columns.h"
#include "groups/core/checks.h"

namespace apiserver::v0::groups::coordination {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

// Follows ValidateCoordinatedLeaseStrategy, which appends the field's name to its own path.
void CheckStrategy(std::string_view strategy, ErrorList& errors) {
  const Path path("spec.strategy.strategy");
  if (strategy.find('/') != std::string_view::npos) {
    return core::CheckQualifiedName(errors, path, strategy);
  }
  core::CheckWord(errors, path, strategy, {"OldestEmulationVersion"});
}

void CheckSpec(Value spec, ErrorList& errors) {
  const Value duration = spec["leaseDurationSeconds"];
  if (!duration.is_null() && duration.AsInt() <= 0) {
    core::InvalidNumber(errors, Path("spec.leaseDurationSeconds"), duration.AsInt(),
                        "must be greater than 0");
  }
  const Value transitions = spec["leaseTransitions"];
  if (!transitions.is_null()) {
    core::CheckNotNegative(errors, Path("spec.leaseTransitions"), transitions.AsInt());
  }
  if (!spec["strategy"].is_null()) CheckStrategy(spec["strategy"].AsString(), errors);
  if (spec["preferredHolder"].size() != 0 && spec["strategy"].size() == 0) {
    errors.Forbidden(Path("spec.preferredHolder"),
                     "may only be specified if `strategy` is defined");
  }
}

// Follows pkg/registry/coordination/lease/strategy.go with CoordinatedLeaderElection off, as it is
// by default.
class LeaseStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  bool AllowCreateOnUpdate() const override { return true; }
  void PrepareForCreate(const Context& /*ctx*/, Object& lease) const override {
    lease.Erase("spec", "strategy");
    lease.Erase("spec", "preferredHolder");
  }
  void PrepareForUpdate(const Context& /*ctx*/, Object& lease, const Object& old) const override {
    for (const char* const key : {"strategy", "preferredHolder"}) {
      if (old["spec"][key].is_null()) lease.Erase("spec", key);
    }
  }
  ErrorList Validate(const Context& /*ctx*/, const Object& lease) const override {
    ErrorList errors = meta::ValidateObjectMeta(lease.metadata(), /*namespaced=*/true,
                                                meta::NameIsDNSSubdomain, Path("metadata"));
    CheckSpec(lease["spec"], errors);
    return errors;
  }
  ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& lease,
                           const Object& old) const override {
    ErrorList errors =
        meta::ValidateObjectMetaUpdate(lease.metadata(), old.metadata(), Path("metadata"));
    CheckSpec(lease["spec"], errors);
    return errors;
  }
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewLeaseStrategy() {
  return std::make_shared<LeaseStrategy>();
}

std::shared_ptr<const rest::TableConvertor> NewLeaseColumns(const Clock& clock) {
  return NewColumns(
      {NameColumn(), TextColumn("Holder", "Who holds it."), AgeColumn()},
      [](const Object& lease, Cells& cells) {
        cells.Text(lease.name()).Text(lease["spec"]["holderIdentity"].AsString()).Age(lease);
      },
      clock);
}

}  // namespace apiserver::v0::groups::coordination
