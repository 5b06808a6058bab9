#include "base/status_macros.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/handlers.h"

namespace apiserver::inline v0::endpoints {

http::Handler NewDeleteHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayWriteHere(exchange));
    RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope->target, /*watch=*/false));
    ASSIGN_OR_RETURN(const meta::DeleteOptions options, ReadDeleteOptions(exchange));
    const Admitter admitter(*scope, exchange, options.dry_run);
    ASSIGN_OR_RETURN(const rest::DeleteResult result,
                     scope->capabilities.graceful_deleter->Delete(
                         exchange.ctx(), exchange.Get<request::RequestInfo>().name,
                         admitter.ValidateDelete(), options));
    // As handlers.DeleteResource: accepted rather than done only when dependents go first.
    const bool waits_for_dependents =
        !result.deleted_immediately && options.orphan_dependents && !*options.orphan_dependents;
    const int code = waits_for_dependents ? 202 : 200;
    if (!result.object) return response::WriteSuccess(exchange, code, result.details);
    return response::WriteObject(exchange, code, result.object, scope->target);
  };
}

}  // namespace apiserver::inline v0::endpoints
