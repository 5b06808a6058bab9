#include "apiserver/http/websocket.h"
#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "endpoints/handlers/admit.h"
#include "endpoints/handlers/forbidden.h"
#include "endpoints/handlers/handlers.h"
#include "request/attributes.h"

namespace apiserver::v0::endpoints {

namespace {

// Checks the rights for a WebSocket, which begins with a GET and must not do what only a POST may:
// the gate AuthorizePodWebsocketUpgradeCreatePermission, if the Connecter asks for it.
Status MayOpenWebSocket(const RequestScope& scope, const http::Exchange& exchange) {
  const Environment& environment = *scope.environment;
  const auto& info = exchange.Get<request::RequestInfo>();
  if (!environment.websocket_needs_create || environment.authorizer == nullptr ||
      info.verb == "create" || !scope.capabilities.connecter->WebSocketNeedsCreate() ||
      !http::IsWebSocketRequest(exchange.request())) {
    return {};
  }
  // The same attributes with another verb: RBAC decides on the verb "create" of the subresource.
  auth::Attributes asked = request::AttributesOf(exchange);
  asked.verb = "create";
  ASSIGN_OR_RETURN(const auth::Verdict verdict,
                   environment.authorizer->Authorize(exchange.ctx(), asked));
  if (verdict.decision == auth::Decision::kAllow) return {};
  return ForbiddenStatusError(asked, verdict.reason);
}

}  // namespace

http::Handler NewConnectHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    // Runs on the pool: a Connecter may block, and proxies do.
    RETURN_IF_ERROR(scope->MayRunHere(exchange, /*read=*/false));
    if (exchange.query().Has("dryRun")) return meta::NewBadRequest("dryRun is not supported");
    RETURN_IF_ERROR(MayOpenWebSocket(*scope, exchange));
    const auto& info = exchange.Get<request::RequestInfo>();
    rest::Connecter& connecter = *scope->capabilities.connecter;
    const std::string subpath = connecter.TakesSubpath() ? SubpathOf(info) : "";
    const meta::QueryValues& query = exchange.query().all();
    ASSIGN_OR_RETURN(const auto options, connecter.NewConnectOptions(query, subpath));
    RETURN_IF_ERROR(Admitter(*scope, exchange).Connect(exchange.ctx(), options.get()));
    ASSIGN_OR_RETURN(
        const http::Handler handler,
        connecter.Connect(
            exchange.ctx(),
            {.name = info.name, .query = query, .subpath = subpath, .options = options.get()}));
    return handler(exchange);
  };
}

}  // namespace apiserver::v0::endpoints
