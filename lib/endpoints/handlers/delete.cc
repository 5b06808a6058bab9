#include "base/status_macros.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/handlers.h"

namespace apiserver::v0::endpoints {

namespace {

// Answers with the details from the storage and without the code, or with the code and the details
// of the request.
http::Step WriteSuccess(const RequestScope& scope, http::Exchange& exchange, int code,
                        const StatusDetails& details) {
  if (details != StatusDetails()) {
    return response::WriteSuccess(exchange, code, details, /*print_code=*/false);
  }
  const StatusDetails own{.name = std::string(exchange.Get<request::RequestInfo>().name),
                          .kind = scope.kind->kind()};
  return response::WriteSuccess(exchange, code, own, /*print_code=*/true);
}

}  // namespace

Status CheckDelete(const RequestScope& scope, http::Exchange& exchange) {
  RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope.target, /*watch=*/false));
  return CheckDeleteOptionsType(exchange);
}

http::Handler NewDeleteHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayWriteHere(exchange));
    RETURN_IF_ERROR(CheckDelete(*scope, exchange));
    ASSIGN_OR_RETURN(const meta::DeleteOptions options, ReadDeleteOptions(exchange));
    const Admitter admitter(*scope, exchange, options);
    ASSIGN_OR_RETURN(const rest::DeleteResult result,
                     scope->capabilities.graceful_deleter->Delete(
                         exchange.ctx(), exchange.Get<request::RequestInfo>().name,
                         admitter.ValidateDelete(), options));
    // As in handlers.DeleteResource: 202 rather than 200 only if dependents are deleted first.
    const bool waits_for_dependents =
        !result.deleted_immediately && options.orphan_dependents && !*options.orphan_dependents;
    const int code = waits_for_dependents ? 202 : 200;
    if (!result.object) return WriteSuccess(*scope, exchange, code, result.details);
    return response::WriteObject(exchange, code, result.object, scope->target);
  };
}

}  // namespace apiserver::v0::endpoints
