#include "apiextensions/validation/validation.h"

#include <algorithm>
#include <string>
#include <utility>

#include "apiextensions/schema/json_schema.h"
#include "apiextensions/validation/defaults.h"
#include "apiextensions/validation/demands.h"
#include "apiextensions/validation/hoist.h"
#include "apiextensions/validation/loaded_schema.h"
#include "apiextensions/validation/names.h"
#include "apiextensions/validation/parts.h"
#include "apiextensions/validation/rules.h"
#include "apiextensions/validation/schema_rules.h"
#include "apiextensions/validation/structural.h"
#include "apiextensions/validation/versions.h"
#include "apiserver/apiextensions/definition.h"
#include "apiserver/codec/schema_loader.h"
#include "apiserver/meta/validation.h"

namespace apiserver::v0::apiextensions {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Object;
using runtime::Value;

constexpr std::string_view kOpenApi = "openAPIV3Schema";

// True if a schema in the spec meets a condition.
template <class Condition>
bool AnySchema(const InternalSpec& spec, Condition condition) {
  bool any = false;
  for (const Value& version : spec.versions().items()) {
    if (any) break;
    ForEachSchema(SchemaOf(version), [&](const Value& schema) {
      any = condition(schema);
      return !any;
    });
  }
  return any;
}

bool HasExtensions(const Value& schema) {
  for (const std::string_view name :
       {"x-kubernetes-embedded-resource", "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys", "x-kubernetes-list-type",
        "x-kubernetes-validations"}) {
    if (schema.Find(name) != nullptr) return true;
  }
  return false;
}

// Validates a spec by its parts, in Kubernetes' order.
class SpecValidation {
 public:
  SpecValidation(const Context& ctx, const InternalSpec& spec, Demands& demands, ErrorList& errors)
      : ctx_(ctx), spec_(spec), demands_(demands), errors_(errors) {}

  void Run() {
    const Value json = spec_.json();
    ValidateGroup(json["group"].AsString(), Path("spec.group"), errors_);
    ValidateWord(json["scope"].AsString(), "Cluster", "Namespaced", Path("spec.scope"), errors_);
    RequireSchemas(spec_, demands_, errors_);
    DemandStructure();
    for (std::size_t i = 0; i < spec_.versions().size() && !errors_.full(); ++i) {
      CheckVersion(spec_.versions().at(i), Path("spec.versions").Index(i));
    }
    ValidateVersionSet(spec_, errors_);
    const Path names("spec.names");
    RequireNames(json["names"], names, errors_);
    ValidateNames(json["names"], names, errors_);
    CheckHoisted();
    ValidateConversion(json["conversion"], demands_, errors_);
    const bool preserves = json["preserveUnknownFields"].AsBool();
    if (preserves && json["conversion"]["strategy"].AsString() != "None") {
      errors_.Invalid(Path("spec.conversion.strategy"), json["conversion"]["strategy"].AsString(),
                      "must be None if spec.preserveUnknownFields is true");
    }
  }

 private:
  // Decides if schemas must be structural; defaults need that unknown fields are pruned.
  void DemandStructure() {
    if (!spec_.json()["preserveUnknownFields"].AsBool()) {
      demands_.structural = true;
      return;
    }
    if (AnySchema(spec_, [](const Value& schema) { return !schema["default"].is_null(); })) {
      demands_.structural = true;
      errors_.InvalidPrinted(Path("spec.preserveUnknownFields"), "true",
                             "must be false in order to use defaults in the schema");
    }
    if (AnySchema(spec_, HasExtensions)) demands_.structural = true;
  }

  void CheckVersion(const Value& version, const Path& path) {
    ValidateVersionName(version, path, errors_);
    ValidateDeprecation(version, path, errors_);
    const Hoisted& hoisted = spec_.hoisted();
    const std::string_view name = version["name"].AsString();
    if (!hoisted.schema) {
      const bool has_status = !spec_.SubresourcesOf(version)["status"].is_null();
      CheckSchema(version["schema"], has_status, name, path.Child("schema"));
    }
    if (!hoisted.subresources) {
      ValidateSubresources(version["subresources"], path.Child("subresources"), errors_);
    }
    if (!hoisted.columns) {
      ValidateColumns(version["additionalPrinterColumns"], path.Child("additionalPrinterColumns"),
                      errors_);
    }
    if (!hoisted.selectable_fields) {
      CheckSelectableFields(version["selectableFields"],
                            hoisted.schema ? Value() : version["schema"],
                            "may only be set when `version.schema.openAPIV3Schema` is not included",
                            name, path.Child("selectableFields"));
    }
  }

  void CheckHoisted() {
    const std::string_view first = spec_.versions().at(0)["name"].AsString();
    CheckSchema(spec_.schema(), spec_.HasAnyStatus(), first, Path("spec.validation"));
    ValidateSubresources(spec_.subresources(), Path("spec.subresources"), errors_);
    ValidateColumns(spec_.columns(), Path("spec.additionalPrinterColumns"), errors_);
    CheckSelectableFields(spec_.selectable_fields(), spec_.schema(),
                          "may only be set when validations.schema is included", "",
                          Path("spec.selectableFields"));
  }

  // `without` is the error of fields without a schema.
  void CheckSelectableFields(const Value& fields, const Value& validation, const char* without,
                             std::string_view version, const Path& path) {
    if (fields.size() == 0) return;
    const Value schema = validation[kOpenApi];
    if (schema.is_null()) return errors_.Invalid(path, "", without);
    if (IsTooDeep(schema)) return;
    const Result<runtime::SchemaPtr> loaded = codec::SchemaFromOpenApi(schema);
    // Errors of the schema are told already.
    if (!loaded.ok()) return;
    const bool too_many = demands_.too_many_selectable_fields.contains(version);
    ValidateSelectableFields(fields, **loaded, too_many, path, errors_);
  }

  void CheckSchema(const Value& validation, bool has_status, std::string_view version,
                   const Path& parent) {
    const Value schema = validation[kOpenApi];
    if (schema.is_null()) return;
    const Path path = parent.Child(kOpenApi);
    if (IsTooDeep(schema)) {
      return errors_.Forbidden(
          path, "must not be nested deeper than " + std::to_string(kSchemaDepthMax) + " schemas");
    }
    ErrorList found;
    CheckSchemaRoot(schema, has_status, path, found);
    LoadedSchema loaded(schema);
    const std::string why = demands_.structural ? WhyNotStructural(schema) : "";
    bool sound = demands_.structural && why.empty();
    if (sound) {
      ErrorList faults = ValidateStructural(schema, path);
      if (faults.empty()) faults = ValidateDefaults(ctx_, loaded, demands_.pruned_defaults, path);
      sound = faults.empty();
      found.Append(std::move(faults));
    }
    const SchemaFindings rules = CheckSchemaRules(schema, demands_, path);
    found.Append(rules.errors);
    if (sound) {
      const bool limit = !demands_.unchanged_schemas.contains(version);
      found.Append(CheckSchemaExpressions(loaded, rules, demands_, limit, path));
    }
    // Most schemas that cannot be structural have been refused by then.
    if (found.empty() && !why.empty()) found.Invalid(path, "", why);
    errors_.Append(std::move(found));
  }

  const Context& ctx_;
  const InternalSpec& spec_;
  Demands& demands_;
  ErrorList& errors_;
};

// Refuses schemas that do not fit their type: they could not be normalized.
bool FitSchemas(const Object& definition, ErrorList& errors) {
  const Value versions = definition["spec"]["versions"];
  runtime::Arena arena;
  bool fit = true;
  for (std::size_t i = 0; i < versions.size() && !errors.full(); ++i) {
    Value schema = SchemaOf(versions.at(i));
    if (schema.is_null()) continue;
    const Path path = Path("spec.versions").Index(i).Child("schema").Child(kOpenApi);
    const Status status = NormalizeJsonSchema(schema, path.text(), arena);
    if (status.ok()) continue;
    fit = false;
    errors.Invalid(path, "", std::string(status.message()));
  }
  return fit;
}

void ValidatePreservation(const Object& definition, const Object* old, ErrorList& errors) {
  if (old != nullptr && (*old)["spec"]["preserveUnknownFields"].AsBool()) return;
  if (!definition["spec"]["preserveUnknownFields"].AsBool()) return;
  errors.InvalidPrinted(Path("spec.preserveUnknownFields"), "true",
                        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                        "spec.versions[*].schema instead");
}

void ValidateAcceptedNames(const Object& definition, ErrorList& errors) {
  ValidateNames(definition["status"]["acceptedNames"], Path("status.acceptedNames"), errors);
}

void ValidateAll(const Context& ctx, const Object& definition, const Object* old, Demands& demands,
                 ErrorList& errors) {
  if (!FitSchemas(definition, errors)) return;
  SpecValidation(ctx, InternalSpec(definition), demands, errors).Run();
  if (old != nullptr) ValidateImmutables(definition, *old, demands, errors);
  ValidateAcceptedNames(definition, errors);
  ValidateStoredVersions(definition, errors);
  ValidateApiApproval(definition, old, errors);
  ValidatePreservation(definition, old, errors);
}

}  // namespace

ErrorList ValidateDefinition(const Context& ctx, const Object& definition) {
  const Value spec = definition["spec"];
  const std::string required =
      std::string(spec["names"]["plural"].AsString()) + "." + std::string(spec["group"].AsString());
  const auto check_name = [&required](std::string_view name, bool prefix) {
    meta::Complaints complaints = meta::NameIsDNSSubdomain(name, prefix);
    if (name != required) complaints.emplace_back("must be spec.names.plural+\".\"+spec.group");
    return complaints;
  };
  ErrorList errors = meta::ValidateObjectMeta(definition.metadata(), /*namespaced=*/false,
                                              check_name, Path("metadata"));
  Demands demands;
  ValidateAll(ctx, definition, nullptr, demands, errors);
  return errors;
}

ErrorList ValidateDefinitionUpdate(const Context& ctx, const Object& definition,
                                   const Object& old) {
  ErrorList errors =
      meta::ValidateObjectMetaUpdate(definition.metadata(), old.metadata(), Path("metadata"));
  Demands demands = DemandsAfter(definition, old);
  ValidateAll(ctx, definition, &old, demands, errors);
  return errors;
}

ErrorList ValidateDefinitionStatus(const Object& definition, const Object& old) {
  ErrorList errors =
      meta::ValidateObjectMetaUpdate(definition.metadata(), old.metadata(), Path("metadata"));
  ValidateAcceptedNames(definition, errors);
  return errors;
}

}  // namespace apiserver::v0::apiextensions
