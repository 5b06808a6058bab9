#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "endpoints/handlers/audit.h"
#include "endpoints/handlers/handlers.h"
#include "endpoints/handlers/patched_object.h"
#include "endpoints/handlers/too_large.h"

namespace apiserver::v0::endpoints {

namespace {

// Returns the options of the update or create that the patch is.
meta::UpdateOptions UpdateOptionsOf(const meta::PatchOptions& options) {
  return {.dry_run = options.dry_run,
          .field_manager = options.field_manager,
          .field_validation = options.field_validation};
}

Result<rest::UpdateResult> Update(const PatchRequest& request, bool track_fields) {
  const PatchedObject patched(request, track_fields);
  return request.scope.capabilities.updater->Update(
      request.exchange.ctx(), request.exchange.Get<request::RequestInfo>().name,
      {.info = patched,
       .validate_create = request.admitter.AuthorizeAndValidateCreate(),
       .validate_update = request.admitter.ValidateUpdate(),
       .force_allow_create = request.type == PatchType::kApply,
       .options = UpdateOptionsOf(request.options)});
}

// The kind of patch in the Content-Type.
struct Form {
  PatchType type;
  bool cbor;
};

// Returns the kind that says which patches there are: a Scale is patched as what it scales.
const runtime::Kind& PatchedKind(const RequestScope& scope) {
  const bool custom = scope.resource_kind->semantics() == runtime::Semantics::kCustomResource;
  return custom ? *scope.resource_kind : *scope.kind;
}

Result<Form> FormOf(const RequestScope& scope, const http::Exchange& exchange) {
  const runtime::Kind& kind = PatchedKind(scope);
  const bool speaks_cbor = exchange.Find<response::ServesCbor>() != nullptr;
  const std::string_view content_type = exchange.request().headers.Get("Content-Type");
  const bool cbor = speaks_cbor && PatchMediaTypeOf(content_type) == kApplyCborMediaType;
  const auto type = cbor ? PatchType::kApply : PatchTypeOf(kind, content_type);
  if (!type) return meta::NewUnsupportedMediaType(AcceptedPatchTypes(kind, speaks_cbor));
  return Form{*type, cbor};
}

}  // namespace

// Checks the kind of patch first, as handlers.PatchResource does.
Status CheckPatch(const RequestScope& scope, http::Exchange& exchange) {
  RETURN_IF_ERROR(FormOf(scope, exchange).status());
  return response::CheckAcceptable(exchange, scope.target, /*watch=*/false);
}

http::Handler NewPatchHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayWriteHere(exchange));
    RETURN_IF_ERROR(CheckPatch(*scope, exchange));
    ASSIGN_OR_RETURN(const Form form, FormOf(*scope, exchange));
    const bool apply = form.type == PatchType::kApply;
    ASSIGN_OR_RETURN(const meta::PatchOptions options,
                     meta::ParsePatchOptions(exchange.query().all(), apply));
    RETURN_IF_ERROR(ReserveDecoding(exchange));
    ApplyBody apply_body;
    if (apply) {
      ASSIGN_OR_RETURN(apply_body, ParseApplyBody(exchange, form.cbor));
    }
    LogRequestPatch(exchange, form.type, form.cbor);
    const Admitter admitter(*scope, exchange, UpdateOptionsOf(options));
    const PatchRequest request{.scope = *scope,
                               .exchange = exchange,
                               .type = form.type,
                               .options = options,
                               .admitter = admitter,
                               .apply = apply ? &apply_body : nullptr};
    // Called a second time without owners if the storage finds the object too large.
    const auto update = [&request](bool with_owners) { return Update(request, with_owners); };
    // An apply has no meaning without owners.
    const auto result = apply ? update(true) : WriteWithoutOwnersIfTooLarge(update);
    RETURN_IF_ERROR(result.status());
    return response::WriteObject(exchange, result->created ? 201 : 200, result->object,
                                 scope->target);
  };
}

}  // namespace apiserver::v0::endpoints
