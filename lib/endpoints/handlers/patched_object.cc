#include "endpoints/handlers/patched_object.h"

#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"

namespace apiserver::inline v0::endpoints {

namespace {

// What does not fit its type after patching is 422 rather than 400.
Status Invalid(const Status& status) {
  if (status.ok()) return status;
  field::ErrorList errors;
  errors.InvalidPrinted(field::Path("patch"), "null", std::string(status.message()));
  return meta::NewInvalid({}, "", errors);
}

Result<runtime::Value> ApplyByType(const PatchRequest& request, runtime::Value document,
                                   runtime::Arena& arena) {
  switch (request.type) {
    case PatchType::kJsonPatch:
      return ApplyJsonPatch(request, document, arena);
    case PatchType::kMergePatch:
      return ApplyMergePatch(request, document, arena);
  }
  return meta::NewInternalError("unimplemented patch type");
}

// A patch sees kind and apiVersion too, and may not change them.
Status PatchDocument(const PatchRequest& request, runtime::Object& object) {
  runtime::Arena& arena = object.arena();
  const std::string api_version = object.gvk().group_version().ToString();
  runtime::MapBuilder document(arena);
  document.Add("kind", runtime::Value::String(arena.Copy(object.kind().kind())));
  document.Add("apiVersion", runtime::Value::String(arena.Copy(api_version)));
  for (const runtime::Member& member : object.root().members()) {
    document.Add(member.key, member.value);
  }
  ASSIGN_OR_RETURN(runtime::Value patched, ApplyByType(request, document.Build(), arena));
  if (!patched.is_map()) return meta::NewBadRequest("the patch did not leave an object");
  if (patched["apiVersion"].AsString() != api_version ||
      patched["kind"].AsString() != object.kind().kind()) {
    return meta::NewBadRequest("the patch may not change kind or apiVersion");
  }
  patched = runtime::Without(runtime::Without(patched, "kind", arena), "apiVersion", arena);
  object.SetRoot(patched);
  return {};
}

}  // namespace

Result<std::unique_ptr<runtime::Object>> PatchedObject::Patch(
    const Context& ctx, const runtime::Object& current) const {
  const RequestScope& scope = request_.scope;
  std::unique_ptr<runtime::Object> object = current.Clone();
  RETURN_IF_ERROR(runtime::ConvertTo(*object, scope.version));
  RETURN_IF_ERROR(PatchDocument(request_, *object));
  const std::vector<std::string> unknown = runtime::UnknownFields(*object);
  RETURN_IF_ERROR(scope.Strict(ctx, unknown, request_.options.field_validation));
  if (scope.kind->semantics() == runtime::Semantics::kStructural) {
    runtime::Prune(*object);
  } else {
    RETURN_IF_ERROR(Invalid(runtime::Normalize(*object)));
  }
  runtime::SetDefaults(*object);
  RETURN_IF_ERROR(runtime::ConvertTo(*object, scope.kind->hub_version()));
  return object;
}

Result<std::unique_ptr<runtime::Object>> PatchedObject::UpdatedObject(
    const Context& ctx, const runtime::ObjectPtr& old) const {
  const RequestScope& scope = request_.scope;
  const auto& info = request_.exchange.Get<request::RequestInfo>();
  if (!old) return meta::NewNotFound(scope.resource.group_resource(), info.name);
  ASSIGN_OR_RETURN(std::unique_ptr<runtime::Object> object, Patch(ctx, *old));
  RETURN_IF_ERROR(scope.CheckName(*object, info.name, info.namespace_));
  RETURN_IF_ERROR(request_.admitter.Admit(ctx, *object, old.get()));
  DedupOwnerReferences(ctx, *object, /*after_admission=*/true);
  return object;
}

Result<runtime::Value> ParsePatch(const PatchRequest& request, runtime::Arena& arena) {
  const std::shared_ptr<const std::string> body = request.exchange.body();
  arena.Pin(body);
  std::vector<std::string> duplicates;
  auto parsed = codec::ParseJson(body ? std::string_view(*body) : "", arena, &duplicates);
  if (!parsed.ok()) return meta::NewBadRequest(std::string(parsed.status().message()));
  std::vector<std::string> strict;
  strict.reserve(duplicates.size());
  for (const std::string& path : duplicates) {
    strict.push_back("duplicate field " + field::Quote(path));
  }
  RETURN_IF_ERROR(
      request.scope.Strict(request.exchange.ctx(), strict, request.options.field_validation));
  return parsed;
}

}  // namespace apiserver::inline v0::endpoints
