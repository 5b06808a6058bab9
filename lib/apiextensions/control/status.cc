#include "apiextensions/control/status.h"

#include <cstddef>
#include <vector>

#include "apiextensions/convert/ca_bundle.h"
#include "apiextensions/validation/schema_rules.h"
#include "apiextensions/validation/structural.h"
#include "apiserver/base/field_path.h"

namespace apiserver::v0::apiextensions {
namespace {

using runtime::Arena;
using runtime::Object;
using runtime::Value;

constexpr std::string_view kNamesGood = "the initial names have been accepted";

Value TextIn(std::string_view text, Arena& arena) { return Value::String(arena.Copy(text)); }

Value TextsIn(const std::vector<std::string>& texts, Arena& arena) {
  runtime::ListBuilder list(arena);
  for (const std::string& text : texts) list.Add(TextIn(text, arena));
  return list.Build();
}

// In the order and with the omissions of the Go type.
Value ToValue(const Names& names, Arena& arena) {
  runtime::MapBuilder map(arena);
  map.Add("plural", TextIn(names.plural, arena));
  if (!names.singular.empty()) map.Add("singular", TextIn(names.singular, arena));
  if (!names.short_names.empty()) map.Add("shortNames", TextsIn(names.short_names, arena));
  map.Add("kind", TextIn(names.kind, arena));
  if (!names.list_kind.empty()) map.Add("listKind", TextIn(names.list_kind, arena));
  if (!names.categories.empty()) map.Add("categories", TextsIn(names.categories, arena));
  return map.Build();
}

void SetFinalizers(Object& object, const std::vector<std::string_view>& finalizers) {
  if (finalizers.empty()) return object.Erase("metadata", "finalizers");
  runtime::ListBuilder list(object.arena());
  for (const std::string_view finalizer : finalizers) list.Add(TextIn(finalizer, object.arena()));
  object.SetPath({"metadata", "finalizers"}, list.Build());
}

// The finalizers but for the one that the objects are deleted for.
std::vector<std::string_view> OtherFinalizers(const Object& object) {
  std::vector<std::string_view> others;
  for (const Value& finalizer : object.finalizers().items()) {
    if (finalizer.AsString() != kCleanupFinalizer) others.push_back(finalizer.AsString());
  }
  return others;
}

}  // namespace

bool SetIfOther(Object& definition, const Condition& condition, Now now) {
  const Value old = FindCondition(definition, condition.type);
  if (old["status"].AsString() == condition.status_text() &&
      old["reason"].AsString() == condition.reason &&
      old["message"].AsString() == condition.message) {
    return false;
  }
  SetCondition(definition, condition, now);
  return true;
}

// Follows the second half of the naming controller's sync.
bool SetNames(Object& definition, const NameIndex::Verdict& verdict, Now now) {
  bool changed =
      SetIfOther(definition, {kNamesAccepted, verdict.all, verdict.reason, verdict.message}, now);
  if (NamesIn(definition["status"]["acceptedNames"]) != verdict.accepted) {
    definition.SetPath({"status", "acceptedNames"}, ToValue(verdict.accepted, definition.arena()));
    changed = true;
  }
  const bool judged = !FindCondition(definition, kEstablished).is_null();
  if (IsConditionTrue(definition, kEstablished)) return changed;
  const bool waits_for_bundle =
      FindCondition(definition, kEstablished)["reason"].AsString() == kInvalidCABundleReason;
  if (verdict.all) {
    // Upstream's controllers take turns in writing the two reasons.
    if (waits_for_bundle) return changed;
    changed |= SetIfOther(definition, {kEstablished, false, "Installing", kNamesGood}, now);
  } else if (!judged) {
    changed |= SetIfOther(definition,
                          {kEstablished, false, "NotAccepted", "not all names are accepted"}, now);
  }
  return changed;
}

bool SetEstablished(Object& definition, Now now) {
  if (!IsConditionTrue(definition, kNamesAccepted)) return false;
  if (HasInvalidCABundle(definition["spec"]["conversion"])) {
    return SetIfOther(definition,
                      {kEstablished, false, kInvalidCABundleReason, kInvalidCABundleMessage}, now);
  }
  return SetIfOther(definition, {kEstablished, true, "InitialNamesAccepted", kNamesGood}, now);
}

// Follows kubernetesapiapproval's calculateCondition.
bool SetApproval(Object& definition, Now now) {
  if (!IsProtectedGroup(definition["spec"]["group"].AsString())) return false;
  std::string text;
  const ApiApproval approval = ApiApprovalOf(definition, text);
  switch (approval) {
    case ApiApproval::kApproved:
      return SetIfOther(definition, {kApiApproval, true, "ApprovedAnnotation", text}, now);
    case ApiApproval::kBypassed:
      return SetIfOther(definition, {kApiApproval, false, "UnapprovedAnnotation", text}, now);
    case ApiApproval::kMissing:
      return SetIfOther(definition, {kApiApproval, false, "MissingAnnotation", text}, now);
    case ApiApproval::kInvalid:
      return SetIfOther(definition, {kApiApproval, false, "InvalidAnnotation", text}, now);
  }
  return false;
}

// Follows calculateCondition of the controller nonstructuralschema. A definition that does not
// preserve unknown fields was structural for whichever server has stored it: validation demands it,
// and upstream relies on it when it serves objects. Looking again would be a sixth of a start.
Structure StructureOf(const Object& definition) {
  const Value spec = definition["spec"];
  const bool preserves = spec["preserveUnknownFields"].AsBool();
  const field::Path path("spec");
  field::ErrorList errors;
  if (preserves) {
    errors.InvalidPrinted(path.Child("preserveUnknownFields"), "true", "must be false");
  }
  const Value versions = spec["versions"];
  for (std::size_t i = 0; i < versions.items().size(); ++i) {
    const Value version = versions.at(i);
    const Value schema = SchemaOf(version);
    if (schema.is_null()) continue;
    const bool too_deep = IsTooDeep(schema);
    if (!too_deep && !preserves) continue;
    const std::string why = too_deep ? "schemas are nested too deeply" : WhyNotStructural(schema);
    if (!why.empty()) {
      return {std::string(kStructuralError), "failed to check validation schema for version " +
                                                 std::string(version["name"].AsString()) + ": " +
                                                 why};
    }
    const field::Path place = path.Child("versions").Index(i).Child("schema");
    errors.Append(ValidateStructural(schema, place.Child("openAPIV3Schema")));
  }
  if (errors.empty()) return {};
  return {"Violations", errors.Aggregate()};
}

Structure StructureTold(const Object& definition) {
  const Value condition = FindCondition(definition, kNonStructuralSchema);
  return {std::string(condition["reason"].AsString()),
          std::string(condition["message"].AsString())};
}

bool SetStructure(Object& definition, const Structure& structure, Now now) {
  if (!structure.reason.empty()) {
    return SetIfOther(definition,
                      {.type = kNonStructuralSchema,
                       .status = true,
                       .reason = structure.reason,
                       .message = structure.message,
                       .unknown = structure.unknown()},
                      now);
  }
  if (FindCondition(definition, kNonStructuralSchema).is_null()) return false;
  RemoveCondition(definition, kNonStructuralSchema);
  return true;
}

// Follows the first update of REST.Delete of registry/customresourcedefinition.
void MarkForDeletion(Object& definition, Now now) {
  std::vector<std::string_view> finalizers = OtherFinalizers(definition);
  if (finalizers.size() == definition.finalizers().size()) {
    finalizers.push_back(kCleanupFinalizer);
    SetFinalizers(definition, finalizers);
  }
  SetCondition(definition,
               {kTerminating, true, "InstanceDeletionPending",
                "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
                "soon"},
               now);
}

bool SetTerminating(Object& definition, bool status, std::string_view reason,
                    std::string_view message, Now now) {
  return SetIfOther(definition, {kTerminating, status, reason, message}, now);
}

bool RemoveCleanup(Object& definition) {
  const std::vector<std::string_view> others = OtherFinalizers(definition);
  if (others.size() == definition.finalizers().size()) return false;
  SetFinalizers(definition, others);
  return true;
}

}  // namespace apiserver::v0::apiextensions
