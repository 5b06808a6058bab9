#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "endpoints/handlers/handlers.h"
#include "endpoints/handlers/patched_object.h"

namespace apiserver::inline v0::endpoints {

http::Handler NewPatchHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayWriteHere(exchange));
    const auto type = PatchTypeOf(*scope->kind, exchange.request().headers.Get("Content-Type"));
    if (!type) return meta::NewUnsupportedMediaType(AcceptedPatchTypes(*scope->kind));
    RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope->target, /*watch=*/false));
    ASSIGN_OR_RETURN(const meta::PatchOptions options,
                     meta::ParsePatchOptions(exchange.query().all(), /*apply=*/false));
    RETURN_IF_ERROR(ReserveDecoding(exchange));
    const Admitter admitter(*scope, exchange, options.dry_run);
    const PatchedObject patched({.scope = *scope,
                                 .exchange = exchange,
                                 .type = *type,
                                 .options = options,
                                 .admitter = admitter});
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
