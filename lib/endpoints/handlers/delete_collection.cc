#include "base/status_macros.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/handlers.h"

namespace apiserver::v0::endpoints {

// Checks in the order of handlers.DeleteCollection: bad list options come before a bad
// Content-Type.
Status CheckDeleteCollection(const RequestScope& scope, http::Exchange& exchange) {
  RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope.target, /*watch=*/false));
  RETURN_IF_ERROR(ReadListOptions(scope, exchange, /*forced_watch=*/false).status());
  return CheckDeleteOptionsType(exchange);
}

http::Handler NewDeleteCollectionHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayRunHere(exchange, /*read=*/false));
    RETURN_IF_ERROR(CheckDeleteCollection(*scope, exchange));
    ASSIGN_OR_RETURN(const meta::ListOptions list_options,
                     ReadListOptions(*scope, exchange, /*forced_watch=*/false));
    ASSIGN_OR_RETURN(const meta::DeleteOptions options, ReadDeleteOptions(exchange));
    const Admitter admitter(*scope, exchange, options);
    ASSIGN_OR_RETURN(const runtime::List deleted,
                     scope->capabilities.collection_deleter->DeleteCollection(
                         exchange.ctx(), admitter.ValidateDelete(), options, list_options));
    return response::WriteList(exchange, deleted, scope->target);
  };
}

}  // namespace apiserver::v0::endpoints
