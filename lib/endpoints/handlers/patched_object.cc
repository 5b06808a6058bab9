#include "endpoints/handlers/patched_object.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "apiserver/meta/managed_fields.h"
#include "apiserver/rest/meta.h"
#include "apiserver/rest/warnings.h"
#include "apiserver/runtime/convert.h"
#include "apiserver/runtime/settle.h"
#include "base/status_macros.h"
#include "codec/type_meta.h"
#include "endpoints/handlers/owner_references.h"
#include "runtime/unstructured.h"

namespace apiserver::v0::endpoints {

namespace {

// Built only for an error: printing the object costs more than patching it.
std::string Shown(const Patched& patched) {
  if (patched.shown) return patched.shown();
  std::string json;
  codec::AppendJson(patched.document, json);
  return json;
}

// An error of the decoder after patching is 422 rather than 400.
Status Invalid(const Patched& patched, std::string why) {
  field::ErrorList errors;
  errors.Invalid(field::Path("patch"), Shown(patched), std::move(why));
  return meta::NewInvalid({}, "", errors);
}

// Refuses, warns of or ignores the unknown fields of the patch, which come first, and of the
// patched object.
Status CheckStrictly(const Context& ctx, const PatchRequest& request, const Patched& patched,
                     std::vector<std::string> unknown) {
  const meta::FieldValidation validation = request.options.field_validation;
  if (validation == meta::FieldValidation::kIgnore) return {};
  if (patched.from_unstructured) std::sort(unknown.begin(), unknown.end());
  unknown.insert(unknown.begin(), patched.strict_errors.begin(), patched.strict_errors.end());
  if (unknown.empty()) return {};
  if (validation == meta::FieldValidation::kStrict) {
    std::string why = "strict decoding error: ";
    for (const std::string& error : unknown) why += (&error == unknown.data() ? "" : ", ") + error;
    return Invalid(patched, std::move(why));
  }
  for (const std::string& error : unknown) rest::AddWarning(ctx, error);
  return {};
}

// Checks a custom object that a patch has put into a version which its definition does not have:
// upstream decodes it without a schema, which knows its metadata alone.
Status CheckUnknownVersion(const Context& ctx, const PatchRequest& request, const Patched& patched,
                           const codec::TypeMeta& type, const runtime::Object& object) {
  const auto version = codec::ParseGroupVersion(type.api_version);
  const runtime::Kind& kind = object.kind();
  const bool unknown_version = version.ok() && version->group == kind.group() &&
                               type.kind == kind.kind() &&
                               kind.FindVersion(version->version) == nullptr;
  if (!unknown_version) return {};
  std::vector<std::string> unknown;
  for (const runtime::Member& member : object.root().members()) {
    if (member.key == std::string_view("metadata")) continue;
    unknown.push_back("unknown field " + field::QuoteShort(member.key));
  }
  std::sort(unknown.begin(), unknown.end());
  return CheckStrictly(ctx, request, patched, std::move(unknown));
}

// A custom resource is decoded as any kind; what it is instead its validator says.
Status CheckCustomType(const Patched& patched, const codec::TypeMeta& type,
                       const runtime::Object& object) {
  if (type.kind.empty()) return Invalid(patched, codec::MissingKindMessage(Shown(patched)));
  if (type.api_version.empty()) {
    return meta::NewInternalError(
        "Object 'apiVersion' is missing in 'object has no apiVersion field'");
  }
  const auto version = codec::ParseGroupVersion(type.api_version);
  if (!version.ok()) return Invalid(patched, std::string(version.status().message()));
  const std::string& kind = object.kind().kind();
  const std::string api_version = object.gvk().group_version().ToString();
  field::ErrorList errors;
  if (type.kind != kind) errors.Invalid(field::Path("kind"), type.kind, "must be " + kind);
  if (type.api_version != api_version) {
    errors.Invalid(field::Path("apiVersion"), type.api_version, "must be " + api_version);
  }
  if (errors.empty()) return {};
  return meta::NewInvalid({version->group, type.kind}, object.name(), errors);
}

Result<Patched> ApplyByType(const PatchRequest& request, runtime::Value document,
                            runtime::Arena& arena) {
  switch (request.type) {
    case PatchType::kJsonPatch:
      return ApplyJsonPatch(request, document, arena);
    case PatchType::kMergePatch:
      return ApplyMergePatch(request, document, arena);
    case PatchType::kStrategicMergePatch:
      return ApplyStrategicMergePatch(request, document, arena);
    case PatchType::kApply:
      break;
  }
  return meta::NewInternalError("unimplemented patch type");
}

// Takes kind and apiVersion from the patched document, which contains them. The result may be in
// another version of the kind, but not of another kind; converter.go does not check that.
Status TakeType(const Context& ctx, const PatchRequest& request, const Patched& patched,
                runtime::Object& object) {
  const runtime::Kind& kind = object.kind();
  runtime::Value root = patched.document;
  const auto type = codec::TakeTypeMeta(root, object.arena());
  if (!type.ok()) return Invalid(patched, std::string(type.status().message()));
  object.SetRoot(root);
  if (patched.from_unstructured) return {};
  if (kind.semantics() == runtime::Semantics::kCustomResource) {
    RETURN_IF_ERROR(CheckUnknownVersion(ctx, request, patched, *type, object));
    return CheckCustomType(patched, *type, object);
  }
  runtime::GroupVersionKind gvk = object.gvk();
  if (!type->kind.empty()) gvk.kind = type->kind;
  if (!type->api_version.empty()) {
    const auto version = codec::ParseGroupVersion(type->api_version);
    if (!version.ok()) return Invalid(patched, std::string(version.status().message()));
    gvk.group = version->group;
    gvk.version = version->version;
  }
  const Status registered = codec::CheckRegistered(kind, gvk);
  if (!registered.ok()) return Invalid(patched, std::string(registered.message()));
  object.SetVersion(gvk.version);
  return {};
}

Result<Patched> PatchDocument(const Context& ctx, const PatchRequest& request,
                              runtime::Object& object) {
  runtime::Arena& arena = object.arena();
  const std::string api_version = object.gvk().group_version().ToString();
  runtime::MapBuilder document(arena, object.root().size() + 2);
  document.Add("kind", runtime::Value::String(arena.Copy(object.kind().kind())));
  document.Add("apiVersion", runtime::Value::String(arena.Copy(api_version)));
  for (const runtime::Member& member : object.root().members()) {
    document.Add(member.key, member.value);
  }
  ASSIGN_OR_RETURN(Patched patched, ApplyByType(request, document.Build(), arena));
  if (!patched.document.is_map()) {
    return meta::NewBadRequest("the patch did not leave an object");
  }
  RETURN_IF_ERROR(TakeType(ctx, request, patched, object));
  return patched;
}

// Makes the object a valid body, as decoding would: a patch may have left values of wrong types.
Status Settle(const Patched& patched, runtime::Object& object) {
  const runtime::Value root = object.root();
  Status status = runtime::Settle(object, {.growth_max = runtime::kPatchedGrowthMax});
  if (status.ok() || status.reason() == Reason::kRequestEntityTooLarge) return status;
  std::string why(status.message());
  if (patched.from_unstructured) {
    const auto& schema = *object.kind().FindVersion(object.version())->schema;
    std::string error = runtime::FromUnstructuredError(schema, root);
    if (!error.empty()) why = std::move(error);
  }
  return Invalid(patched, std::move(why));
}

}  // namespace

Result<PatchedObject::Change> PatchedObject::PatchCurrent(const Context& ctx,
                                                          const runtime::ObjectPtr& current) const {
  const RequestScope& scope = request_.scope;
  RETURN_IF_ERROR(current->load_status());
  // The patched object shares what the patch leaves as it is.
  auto object = std::make_unique<runtime::Object>(current->kind_ptr(), current->version(),
                                                  runtime::Arena(), current->root());
  object->arena().Pin(current);
  // The client's patch is written for the version in its path, whatever version is stored.
  RETURN_IF_ERROR(runtime::Convert(ctx, *object, scope.version));
  auto before = std::make_unique<runtime::Object>(object->kind_ptr(), scope.version,
                                                  runtime::Arena(), object->root());
  ASSIGN_OR_RETURN(const Patched patched, PatchDocument(ctx, request_, *object));
  // Before unknown fields are dropped by Settle().
  std::vector<std::string> unknown = runtime::UnknownFields(*object);
  // A patch that sets managedFields to an empty list resets them; Settle() would drop the list.
  meta::KeepManagedFieldsReset(*object);
  RETURN_IF_ERROR(Settle(patched, *object));
  RETURN_IF_ERROR(CheckStrictly(ctx, request_, patched, std::move(unknown)));
  RETURN_IF_ERROR(runtime::Convert(ctx, *object, scope.kind->hub_version()));
  return Change{std::move(object), std::move(before)};
}

// An apply may create the object; all other patches need it.
Result<std::unique_ptr<runtime::Object>> PatchedObject::Patch(const Context& ctx,
                                                              const runtime::ObjectPtr& old) const {
  if (request_.type == PatchType::kApply) return ApplyConfiguration(request_, ctx, old);
  if (!old) {
    return meta::NewNotFound(request_.scope.resource.group_resource(),
                             request_.exchange.Get<request::RequestInfo>().name);
  }
  ASSIGN_OR_RETURN(Change change, PatchCurrent(ctx, old));
  if (track_fields_) {
    // Given the version in which fields are owned, it need not convert the old object once more.
    request_.scope.TrackFields(request_.exchange, change.before.get(), *change.object,
                               request_.options.field_manager);
  } else {
    // The object with its owners was too large for the storage.
    change.object->Erase("metadata", "managedFields");
  }
  return std::move(change.object);
}

Status PatchedObject::CheckMeta(runtime::Object& object, bool exists) const {
  const RequestScope& scope = request_.scope;
  const auto& info = request_.exchange.Get<request::RequestInfo>();
  // A uid in the request is a precondition, which a missing object cannot meet.
  if (!exists && !object.uid().empty()) {
    return meta::NewConflict(scope.resource.group_resource(), info.name,
                             "uid mismatch: the provided object specified uid " +
                                 std::string(object.uid()) + ", and no existing object was found");
  }
  RETURN_IF_ERROR(rest::EnsureObjectNamespaceMatchesRequestNamespace(info.namespace_, object));
  return scope.CheckName(object, info.name, info.namespace_);
}

// Runs once for each attempt. Admission comes after the patch, so it sees the object as it would be
// stored.
Result<std::unique_ptr<runtime::Object>> PatchedObject::UpdatedObject(
    const Context& ctx, const runtime::ObjectPtr& old) const {
  ASSIGN_OR_RETURN(std::unique_ptr<runtime::Object> object, Patch(ctx, old));
  RETURN_IF_ERROR(CheckMeta(*object, old != nullptr));
  RETURN_IF_ERROR(request_.admitter.Admit(ctx, *object, old.get()));
  DedupOwnerReferences(ctx, *object, /*after_admission=*/true);
  return object;
}

Result<runtime::Value> ParsePatch(const PatchRequest& request, std::string_view prefix,
                                  std::vector<std::string>& strict_errors, runtime::Arena& arena) {
  const std::shared_ptr<const std::string> body = request.exchange.body();
  // The patch's texts point into the body.
  arena.Pin(body);
  std::vector<std::string> duplicates;
  const auto parsed = codec::ParseJson(body ? std::string_view(*body) : "", arena, &duplicates);
  if (!parsed.ok()) {
    return meta::NewBadRequest(std::string(prefix) + std::string(parsed.status().message()));
  }
  if (!parsed->is_map() && !parsed->is_null()) {
    return meta::NewBadRequest(std::string(prefix) + NoObjectError(*parsed));
  }
  if (request.options.field_validation != meta::FieldValidation::kIgnore) {
    for (const std::string& path : duplicates) {
      strict_errors.push_back("duplicate field " + field::QuoteShort(path));
    }
  }
  return *parsed;
}

std::string NoObjectError(const runtime::Value& value) {
  const std::string_view word = value.is_list()     ? "array"
                                : value.is_number() ? "number"
                                : value.is_string() ? "string"
                                                    : "bool";
  return "json: cannot unmarshal " + std::string(word) +
         " into Go value of type map[string]interface {}";
}

}  // namespace apiserver::v0::endpoints
