#include "base/status_macros.h"
#include "endpoints/handlers/handlers.h"

namespace apiserver::inline v0::endpoints {

namespace {

// What follows the resource's own parts of the path.
std::string Subpath(const request::RequestInfo& info) {
  std::string subpath;
  for (std::size_t i = 3; i < info.parts.size(); ++i) {
    if (i > 3) subpath += '/';
    subpath += info.parts[i];
  }
  return subpath;
}

Result<runtime::ObjectPtr> Read(const RequestScope& scope, http::Exchange& exchange) {
  const auto& info = exchange.Get<request::RequestInfo>();
  if (scope.capabilities.getter_with_options) {
    return scope.capabilities.getter_with_options->Get(exchange.ctx(), info.name,
                                                       exchange.query().all(), Subpath(info));
  }
  ASSIGN_OR_RETURN(const meta::GetOptions options, meta::ParseGetOptions(exchange.query().all()));
  return scope.capabilities.getter->Get(exchange.ctx(), info.name, options);
}

http::Step Stream(const RequestScope& scope, http::Exchange& exchange) {
  ASSIGN_OR_RETURN(
      rest::ResourceStreamer::Input input,
      scope.capabilities.streamer->InputStream(
          exchange.ctx(), exchange.Get<request::RequestInfo>().name, exchange.query().all()));
  if (!input.body) {
    exchange.writer().Send({.code = 204, .headers = {}}, {});
    return http::Step::Done();
  }
  exchange.writer().Stream({.code = 200, .headers = {{"Content-Type", input.media_type}}},
                           std::move(input.body));
  return http::Step::Done();
}

}  // namespace

http::Handler NewGetHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayRunHere(exchange, /*read=*/true));
    if (scope->capabilities.streamer) return Stream(*scope, exchange);
    RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope->target, /*watch=*/false));
    ASSIGN_OR_RETURN(const runtime::ObjectPtr object, Read(*scope, exchange));
    return response::WriteObject(exchange, 200, object, scope->target);
  };
}

}  // namespace apiserver::inline v0::endpoints
