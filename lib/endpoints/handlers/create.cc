#include "apiserver/rest/meta.h"
#include "base/status_macros.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/handlers.h"

namespace apiserver::inline v0::endpoints {

namespace {

Result<runtime::ObjectPtr> Store(const RequestScope& scope, http::Exchange& exchange,
                                 std::unique_ptr<runtime::Object> object,
                                 const meta::CreateOptions& options) {
  const Admitter admitter(scope, exchange, options.dry_run);
  if (scope.capabilities.named_creater) {
    return scope.capabilities.named_creater->Create(
        exchange.ctx(), exchange.Get<request::RequestInfo>().name, std::move(object),
        admitter.ValidateCreate(), options);
  }
  return scope.capabilities.creater->Create(exchange.ctx(), std::move(object),
                                            admitter.ValidateCreate(), options);
}

}  // namespace

http::Handler NewCreateHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayRunHere(exchange, /*read=*/false));
    const WriteDeadline deadline(*scope->environment, exchange);
    RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope->target, /*watch=*/false));
    ASSIGN_OR_RETURN(const meta::CreateOptions options,
                     meta::ParseCreateOptions(exchange.query().all()));
    ASSIGN_OR_RETURN(std::unique_ptr<runtime::Object> object,
                     scope->Decode(exchange, options.field_validation));
    const auto& info = exchange.Get<request::RequestInfo>();
    rest::WipeObjectMetaSystemFields(*object);
    RETURN_IF_ERROR(rest::EnsureObjectNamespaceMatchesRequestNamespace(info.namespace_, *object));
    DedupOwnerReferences(exchange.ctx(), *object, /*after_admission=*/false);
    RETURN_IF_ERROR(
        Admitter(*scope, exchange, options.dry_run).Admit(exchange.ctx(), *object, nullptr));
    DedupOwnerReferences(exchange.ctx(), *object, /*after_admission=*/true);
    ASSIGN_OR_RETURN(const runtime::ObjectPtr created,
                     Store(*scope, exchange, std::move(object), options));
    return response::WriteObject(exchange, 201, created, scope->target);
  };
}

}  // namespace apiserver::inline v0::endpoints
