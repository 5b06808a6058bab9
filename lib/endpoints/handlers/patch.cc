#include <string>
#include <string_view>

#include "apiserver/codec/json.h"
#include "apiserver/codec/yaml.h"
#include "apiserver/meta/errors.h"
#include "apiserver/patch/json_patch.h"
#include "apiserver/patch/merge_patch.h"
#include "base/status_macros.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/handlers.h"
#include "endpoints/patch_types.h"

namespace apiserver::inline v0::endpoints {

namespace {

// Applies one patch to whatever is stored, again on every try. As patcher.applyPatch: the patch
// works on the object in the path's version; the result is decoded like a body.
class PatchedObject final : public rest::UpdatedObjectInfo {
 public:
  PatchedObject(const RequestScope& scope, http::Exchange& exchange, PatchType type,
                const meta::PatchOptions& options, const Admitter& admitter)
      : scope_(scope), exchange_(exchange), type_(type), options_(options), admitter_(admitter) {}

  Result<std::unique_ptr<runtime::Object>> UpdatedObject(
      const Context& ctx, const runtime::ObjectPtr& old) const override {
    const auto& info = exchange_.Get<request::RequestInfo>();
    if (!old) return meta::NewNotFound(scope_.resource.group_resource(), info.name);
    std::unique_ptr<runtime::Object> object = old->Clone();
    RETURN_IF_ERROR(runtime::ConvertTo(*object, scope_.version));
    RETURN_IF_ERROR(Apply(*object));
    const std::vector<std::string> unknown = runtime::UnknownFields(*object);
    RETURN_IF_ERROR(scope_.Strict(ctx, unknown, options_.field_validation));
    if (scope_.kind->semantics() == runtime::Semantics::kStructural) {
      runtime::Prune(*object);
    } else {
      RETURN_IF_ERROR(Invalid(runtime::Normalize(*object)));
    }
    runtime::SetDefaults(*object);
    RETURN_IF_ERROR(runtime::ConvertTo(*object, scope_.kind->hub_version()));
    RETURN_IF_ERROR(scope_.CheckName(*object, info.name, info.namespace_));
    RETURN_IF_ERROR(admitter_.Admit(ctx, *object, old.get()));
    DedupOwnerReferences(ctx, *object, /*after_admission=*/true);
    return object;
  }

 private:
  // What does not fit its type after patching is 422 rather than 400.
  static Status Invalid(const Status& status) {
    if (status.ok()) return status;
    field::ErrorList errors;
    errors.InvalidPrinted(field::Path("patch"), "null", std::string(status.message()));
    return meta::NewInvalid({}, "", errors);
  }

  // A patch sees kind and apiVersion too, and may not change them.
  Status Apply(runtime::Object& object) const {
    runtime::Arena& arena = object.arena();
    const std::string api_version = object.gvk().group_version().ToString();
    runtime::MapBuilder document(arena);
    document.Add("kind", runtime::Value::String(arena.Copy(object.kind().kind())));
    document.Add("apiVersion", runtime::Value::String(arena.Copy(api_version)));
    for (const runtime::Member& member : object.root().members()) {
      document.Add(member.key, member.value);
    }
    ASSIGN_OR_RETURN(runtime::Value patched, Patched(document.Build(), arena));
    if (!patched.is_map()) return meta::NewBadRequest("the patch did not leave an object");
    if (patched["apiVersion"].AsString() != api_version ||
        patched["kind"].AsString() != object.kind().kind()) {
      return meta::NewBadRequest("the patch may not change kind or apiVersion");
    }
    patched = runtime::Without(runtime::Without(patched, "kind", arena), "apiVersion", arena);
    object.SetRoot(patched);
    return {};
  }

  Result<runtime::Value> Patched(runtime::Value document, runtime::Arena& arena) const {
    const std::shared_ptr<const std::string> body = exchange_.body();
    const std::string_view text = body ? std::string_view(*body) : "";
    arena.Pin(body);
    if (type_ == PatchType::kJsonPatch) {
      return patch::ApplyJsonPatch(
          document, text, arena,
          {.operations_max = scope_.environment->json_patch_operations_max,
           .copy_bytes_max = scope_.environment->json_patch_copy_bytes_max});
    }
    std::vector<std::string> duplicates;
    auto parsed = codec::ParseJson(text, arena, &duplicates);
    if (!parsed.ok()) return meta::NewBadRequest(std::string(parsed.status().message()));
    std::vector<std::string> strict;
    strict.reserve(duplicates.size());
    for (const std::string& path : duplicates) {
      strict.push_back("duplicate field " + field::Quote(path));
    }
    RETURN_IF_ERROR(scope_.Strict(exchange_.ctx(), strict, options_.field_validation));
    return patch::ApplyMergePatch(document, *parsed, arena);
  }

  const RequestScope& scope_;
  http::Exchange& exchange_;
  PatchType type_;
  const meta::PatchOptions& options_;
  const Admitter& admitter_;
};

}  // namespace

http::Handler NewPatchHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayWriteHere(exchange));
    const auto type = PatchTypeOf(exchange.request().headers.Get("Content-Type"));
    if (!type) return meta::NewUnsupportedMediaType(AcceptedPatchTypes());
    RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope->target, /*watch=*/false));
    ASSIGN_OR_RETURN(const meta::PatchOptions options,
                     meta::ParsePatchOptions(exchange.query().all(), /*apply=*/false));
    RETURN_IF_ERROR(ReserveDecoding(exchange));
    const Admitter admitter(*scope, exchange, options.dry_run);
    const PatchedObject patched(*scope, exchange, *type, options, admitter);
    ASSIGN_OR_RETURN(const rest::UpdateResult result,
                     scope->capabilities.updater->Update(
                         exchange.ctx(), exchange.Get<request::RequestInfo>().name,
                         {.info = patched,
                          .validate_create = admitter.AuthorizeAndValidateCreate(),
                          .validate_update = admitter.ValidateUpdate(),
                          .force_allow_create = false,
                          .options = {.dry_run = options.dry_run,
                                      .field_manager = options.field_manager,
                                      .field_validation = options.field_validation}}));
    return response::WriteObject(exchange, result.created ? 201 : 200, result.object,
                                 scope->target);
  };
}

}  // namespace apiserver::inline v0::endpoints
