#include <algorithm>
#include <set>

#include "apiserver/meta/validation.h"
#include "apiserver/runtime/names.h"
#include "meta/json_text.h"

namespace apiserver::v0::meta {
namespace {

using field::ErrorList;
using field::Path;
using runtime::Value;

constexpr std::size_t kSubresourceBytesMax = 256;

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void InvalidEach(const Complaints& complaints, std::string_view value, const Path& path,
                 ErrorList& errors) {
  for (const std::string& complaint : complaints) errors.Invalid(path, value, complaint);
}

// As schema.FromAPIVersionAndKind: an unreadable apiVersion has no version.
bool HasVersion(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return !api_version.empty();
  const std::string_view version = api_version.substr(slash + 1);
  return !version.empty() && version.find('/') == std::string_view::npos;
}

// `path` is that of the list: as in Go errors have no index, so that equal ones become one.
void ValidateOwnerReference(Value reference, const Path& path, ErrorList& errors) {
  const std::string_view api_version = reference["apiVersion"].AsString();
  if (!HasVersion(api_version)) {
    errors.Invalid(path.Child("apiVersion"), api_version, "version must not be empty");
  }
  for (const std::string_view name : {"kind", "name", "uid"}) {
    if (reference[name].AsString().empty()) {
      errors.Invalid(path.Child(name), "", "must not be empty");
    }
  }
  // An empty group before the slash is the legacy group too.
  if ((api_version == "v1" || api_version == "/v1") && reference["kind"].AsString() == "Event") {
    errors.InvalidPrinted(path, JsonText(reference),
                          "/v1, Kind=Event is disallowed from being an owner");
  }
}

// Follows ValidateManagedFields in apimachinery's meta/v1/validation.
void ValidateManagedFieldsEntry(Value entry, const Path& path, ErrorList& errors) {
  const std::string_view operation = entry["operation"].AsString();
  if (operation.empty()) {
    errors.Required(path.Child("operation"), "must not be empty");
  } else if (operation != "Apply" && operation != "Update") {
    errors.NotSupported(path.Child("operation"), operation, {"Apply", "Update"});
  }
  const std::string_view type = entry["fieldsType"].AsString();
  if (!type.empty() && type != "FieldsV1") {
    errors.Invalid(path.Child("fieldsType"), type, "must be `FieldsV1`");
  }
  errors.Append(ValidateFieldManager(entry["manager"].AsString(), path.Child("manager")));
  if (entry["subresource"].AsString().size() > kSubresourceBytesMax) {
    errors.TooLong(path.Child("subresource"), static_cast<long>(kSubresourceBytesMax));
  }
}

void ValidateNamespace(std::string_view name, bool namespaced, const Path& path,
                       ErrorList& errors) {
  if (!namespaced) {
    if (!name.empty()) errors.Forbidden(path, "not allowed on this type");
  } else if (name.empty()) {
    errors.Required(path);
  } else {
    InvalidEach(NameIsDNSLabel(name, false), name, path, errors);
  }
}

// Go's %#v of a []string.
std::string GoSlice(const std::set<std::string_view>& values) {
  std::string text = "[]string{";
  for (const std::string_view value : values) {
    if (text.size() > field::kTextBytesMax) break;  // An error shows no more of it.
    if (value != *values.begin()) text += ", ";
    text += field::QuoteShort(value);
  }
  return text + "}";
}

// Absent and empty text are the same to Go.
Value OrEmpty(Value value) { return value.is_null() ? Value::String("") : value; }

}  // namespace

ErrorList ValidateLabelName(std::string_view name, const Path& path) {
  ErrorList errors;
  InvalidEach(IsQualifiedName(name), name, path, errors);
  return errors;
}

ErrorList ValidateLabels(Value labels, const Path& path) {
  ErrorList errors;
  for (const runtime::Member& label : labels.members()) {
    if (errors.full()) break;
    InvalidEach(IsQualifiedName(label.key), label.key, path, errors);
    const std::string_view value = label.value.AsString();
    InvalidEach(IsValidLabelValue(value), value, path, errors);
  }
  return errors;
}

ErrorList ValidateAnnotations(Value annotations, const Path& path) {
  ErrorList errors;
  std::size_t bytes = 0;
  for (const runtime::Member& annotation : annotations.members()) {
    // Case does not matter here, so that the prefix may have capitals. A name that is good with
    // them, as nearly all are, is good without.
    if (!errors.full() && !IsQualifiedName(annotation.key).empty()) {
      InvalidEach(IsQualifiedName(Lower(annotation.key)), annotation.key, path, errors);
    }
    bytes += annotation.key.size() + annotation.value.AsString().size();
  }
  if (bytes > kTotalAnnotationBytesMax) {
    errors.TooLong(path, static_cast<long>(kTotalAnnotationBytesMax));
  }
  return errors;
}

ErrorList ValidateOwnerReferences(Value references, const Path& path) {
  ErrorList errors;
  std::string first_controller;
  std::string printed;  // Once: it may be megabytes, and each of the references may show it.
  for (const Value& reference : references.items()) {
    if (errors.full()) break;
    ValidateOwnerReference(reference, path, errors);
    if (!reference["controller"].AsBool()) continue;
    const std::string controller = field::Shorten(reference["kind"].AsString()) + "/" +
                                   field::Shorten(reference["name"].AsString());
    if (first_controller.empty()) {
      first_controller = controller;
      continue;
    }
    if (printed.empty()) printed = field::Shorten(JsonText(references));
    std::string detail =
        "Only one reference can have Controller set to true. Found \"true\" in references for ";
    detail.append(first_controller).append(" and ").append(controller);
    errors.InvalidPrinted(path, printed, std::move(detail));
  }
  return errors;
}

ErrorList ValidateFinalizers(Value finalizers, const Path& path) {
  ErrorList errors;
  bool orphans = false;
  bool deletes = false;
  for (const Value finalizer : finalizers.items()) {
    const std::string_view name = finalizer.AsString();
    if (!errors.full()) InvalidEach(IsQualifiedName(name), name, path, errors);
    orphans = orphans || name == kFinalizerOrphanDependents;
    deletes = deletes || name == kFinalizerDeleteDependents;
  }
  if (orphans && deletes) {
    errors.InvalidPrinted(path, JsonText(finalizers),
                          "finalizer orphan and foregroundDeletion cannot be both set");
  }
  return errors;
}

ErrorList ValidateNoNewFinalizers(Value now, Value before, const Path& path) {
  ErrorList errors;
  std::set<std::string_view> extra;
  for (const Value finalizer : now.items()) extra.insert(finalizer.AsString());
  for (const Value finalizer : before.items()) extra.erase(finalizer.AsString());
  if (!extra.empty()) {
    errors.Forbidden(path,
                     "no new finalizers can be added if the object is being deleted, found new "
                     "finalizers " +
                         GoSlice(extra));
  }
  return errors;
}

ErrorList ValidateManagedFields(Value entries, const Path& path) {
  ErrorList errors;
  for (std::size_t i = 0; i < entries.items().size() && !errors.full(); ++i) {
    ValidateManagedFieldsEntry(entries.at(i), path.Index(i), errors);
  }
  return errors;
}

ErrorList ValidateNonnegativeField(std::int64_t value, const Path& path) {
  ErrorList errors;
  if (value < 0) {
    errors.InvalidPrinted(path, std::to_string(value), "must be greater than or equal to 0");
  }
  return errors;
}

ErrorList ValidateImmutableField(Value now, Value before, const Path& path) {
  ErrorList errors;
  if (now == before) return errors;
  if (now.is_string()) {
    errors.Invalid(path, now.AsString(), std::string(kFieldImmutable));
  } else {
    errors.InvalidPrinted(path, JsonText(now), std::string(kFieldImmutable));
  }
  return errors;
}

ErrorList ValidateObjectMeta(Value metadata, bool namespaced, const NameValidator& validate_name,
                             const Path& path) {
  ErrorList errors;
  const std::string_view generate_name = metadata["generateName"].AsString();
  if (!generate_name.empty()) {
    InvalidEach(validate_name(generate_name, true), generate_name, path.Child("generateName"),
                errors);
  }
  const std::string_view name = metadata["name"].AsString();
  if (name.empty()) {
    errors.Required(path.Child("name"), "name or generateName is required");
  } else {
    InvalidEach(validate_name(name, false), name, path.Child("name"), errors);
  }
  ValidateNamespace(metadata["namespace"].AsString(), namespaced, path.Child("namespace"), errors);
  errors.Append(ValidateNonnegativeField(metadata["generation"].AsInt(), path.Child("generation")));
  errors.Append(ValidateLabels(metadata["labels"], path.Child("labels")));
  errors.Append(ValidateAnnotations(metadata["annotations"], path.Child("annotations")));
  errors.Append(
      ValidateOwnerReferences(metadata["ownerReferences"], path.Child("ownerReferences")));
  errors.Append(ValidateFinalizers(metadata["finalizers"], path.Child("finalizers")));
  errors.Append(ValidateManagedFields(metadata["managedFields"], path.Child("managedFields")));
  return errors;
}

// The order of the checks is that of the causes a client gets. It follows
// ValidateObjectMetaAccessorUpdate in apimachinery's api/validation.
ErrorList ValidateObjectMetaUpdate(Value now, Value before, const Path& path) {
  ErrorList errors = ValidateObjectMetaChange(now, before, path);
  errors.Append(ValidateLabels(now["labels"], path.Child("labels")));
  errors.Append(ValidateAnnotations(now["annotations"], path.Child("annotations")));
  errors.Append(ValidateOwnerReferences(now["ownerReferences"], path.Child("ownerReferences")));
  errors.Append(ValidateManagedFields(now["managedFields"], path.Child("managedFields")));
  return errors;
}

ErrorList ValidateObjectMetaChange(Value now, Value before, const Path& path) {
  ErrorList errors;
  if (!before["deletionTimestamp"].is_null()) {
    errors.Append(
        ValidateNoNewFinalizers(now["finalizers"], before["finalizers"], path.Child("finalizers")));
  }
  if (now["resourceVersion"].AsString().empty()) {
    errors.Invalid(path.Child("resourceVersion"), "", "must be specified for an update");
  }
  const std::int64_t generation = now["generation"].AsInt();
  errors.Append(ValidateNonnegativeField(generation, path.Child("generation")));
  if (generation < before["generation"].AsInt()) {
    errors.InvalidPrinted(path.Child("generation"), std::to_string(generation),
                          "must not be decremented");
  }
  for (const std::string_view text : {"name", "namespace", "uid"}) {
    errors.Append(
        ValidateImmutableField(OrEmpty(now[text]), OrEmpty(before[text]), path.Child(text)));
  }
  for (const std::string_view other :
       {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    errors.Append(ValidateImmutableField(now[other], before[other], path.Child(other)));
  }
  return errors;
}

}  // namespace apiserver::v0::meta
