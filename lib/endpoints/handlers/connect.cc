#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/handlers.h"

namespace apiserver::inline v0::endpoints {

http::Handler NewConnectHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayRunHere(exchange, /*read=*/false));
    if (exchange.query().Has("dryRun")) return meta::NewBadRequest("dryRun is not supported");
    RETURN_IF_ERROR(Admitter(*scope, exchange).Connect(exchange.ctx()));
    const auto& info = exchange.Get<request::RequestInfo>();
    rest::Connecter& connecter = *scope->capabilities.connecter;
    const std::string subpath = connecter.TakesSubpath() ? SubpathOf(info) : "";
    ASSIGN_OR_RETURN(const http::Handler handler,
                     connecter.Connect(exchange.ctx(), info.name, exchange.query().all(), subpath));
    return handler(exchange);
  };
}

}  // namespace apiserver::inline v0::endpoints
