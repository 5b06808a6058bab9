#include "apiextensions/kind/strategy.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "apiextensions/validation/validation.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/rest/status.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Object;
using runtime::Value;

// Returns the status of a new definition: Go writes fields that are empty, too.
Value NewStatus(runtime::Arena& arena) {
  runtime::MapBuilder names(arena);
  names.Add("plural", Value::String(""));
  names.Add("kind", Value::String(""));
  runtime::MapBuilder status(arena);
  status.Add("conditions", {});
  status.Add("acceptedNames", names.Build());
  status.Add("storedVersions", {});
  return status.Build();
}

void AddStoredVersion(Object& definition) {
  const std::string_view storage = StorageVersionOf(definition);
  const auto stored = definition["status"]["storedVersions"].items();
  const auto same = [storage](const Value& version) { return version.AsString() == storage; };
  if (storage.empty() || std::any_of(stored.begin(), stored.end(), same)) return;
  runtime::ListBuilder versions(definition.arena());
  for (const Value& version : stored) versions.Add(version);
  versions.Add(Value::String(storage));
  definition.SetPath({"status", "storedVersions"}, versions.Build());
}

class DefinitionStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return false; }
  void PrepareForCreate(const Context& /*ctx*/, Object& object) const override {
    object.SetPath({"status"}, NewStatus(object.arena()));
    object.Edit("metadata", "generation") = 1;
    AddStoredVersion(object);
  }
  void PrepareForUpdate(const Context& /*ctx*/, Object& object, const Object& old) const override {
    rest::KeepStatus(object, old);
    const bool changed = !(object["spec"] == old["spec"]);
    object.Edit("metadata", "generation") = old.generation() + (changed ? 1 : 0);
    AddStoredVersion(object);
  }
  field::ErrorList Validate(const Context& ctx, const Object& object) const override {
    return ValidateDefinition(ctx, object);
  }
  field::ErrorList ValidateUpdate(const Context& ctx, const Object& object,
                                  const Object& old) const override {
    return ValidateDefinitionUpdate(ctx, object, old);
  }
  std::vector<std::string> WarningsOnCreate(const Context& /*ctx*/,
                                            const Object& object) const override {
    return FormatWarnings(object, nullptr);
  }
  std::vector<std::string> WarningsOnUpdate(const Context& /*ctx*/, const Object& object,
                                            const Object& old) const override {
    return FormatWarnings(object, &old);
  }
  rest::ResetFields GetResetFields() const override {
    return rest::StatusFields(*DefinitionKind());
  }
};

// Unlike that of other kinds, the status keeps changes of metadata: controllers remove finalizers
// by it.
class DefinitionStatusStrategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return false; }
  void PrepareForUpdate(const Context& /*ctx*/, Object& object, const Object& old) const override {
    if (!(object["spec"] == old["spec"])) object.Edit("spec") = old["spec"];
  }
  field::ErrorList Validate(const Context& /*ctx*/, const Object& object) const override {
    return ValidateDefinitionStatus(object, object);
  }
  field::ErrorList ValidateUpdate(const Context& /*ctx*/, const Object& object,
                                  const Object& old) const override {
    return ValidateDefinitionStatus(object, old);
  }
  rest::ResetFields GetResetFields() const override {
    return rest::AllButStatusFields(*DefinitionKind());
  }
};

}  // namespace

std::shared_ptr<const rest::Strategy> NewDefinitionStrategy() {
  return std::make_shared<DefinitionStrategy>();
}

std::shared_ptr<const rest::Strategy> NewDefinitionStatusStrategy() {
  return std::make_shared<DefinitionStatusStrategy>();
}

}  // namespace apiserver::v0::apiextensions
