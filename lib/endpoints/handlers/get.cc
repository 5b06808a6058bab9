#include "base/status_macros.h"
#include "endpoints/handlers/handlers.h"
#include "response/negotiate.h"

namespace apiserver::v0::endpoints {

namespace {

// Passes the whole query on: its options belong to the storage's own type, as those of a log do.
http::Step GetWithOptions(const RequestScope& scope, http::Exchange& exchange) {
  const auto& info = exchange.Get<request::RequestInfo>();
  rest::GetterWithOptions& getter = *scope.capabilities.getter_with_options;
  const std::string subpath = getter.TakesSubpath() ? SubpathOf(info) : "";
  ASSIGN_OR_RETURN(const runtime::ObjectPtr object,
                   getter.Get(exchange.ctx(), info.name, exchange.query().all(), subpath));
  return response::WriteObject(exchange, 200, object, scope.target);
}

// Runs once more after it has waited: `exchange` outlives both runs, and `scope` is held.
http::Step Get(const ScopePtr& scope, http::Exchange& exchange, const meta::GetOptions& options,
               const response::Negotiated& form) {
  const auto& name = exchange.Get<request::RequestInfo>().name;
  const auto object = scope->capabilities.getter->Get(exchange.ctx(), name, options);
  // A consistent read on a loop: waits until the cache is fresh, instead of blocking a thread of
  // the pool.
  if (object.status().reason() == Reason::kWouldBlock && options.resource_version.empty()) {
    return WhenFresh(scope, exchange,
                     [scope, &exchange, options = options, form](std::string version) mutable {
                       options.resource_version = std::move(version);
                       return Get(scope, exchange, options, form);
                     });
  }
  RETURN_IF_ERROR(object.status());
  return response::WriteNegotiated(exchange, 200, *object, scope->target, form);
}

// Goes on with a request once its stream is open. What keeps the exchange is handed to its loop, or
// goes before the Resume does.
struct AfterOpening {
  http::Resume resume;
  std::shared_ptr<http::Exchange> exchange;  // Destroyed first.

  void operator()(Result<rest::ResourceStreamer::Input> input) {
    resume.OnLoop([exchange = std::move(exchange),
                   input = std::move(input)]() mutable -> http::Step {
      if (!input.ok()) return input.status();
      return response::WriteStream(*exchange, std::move(input->body), std::move(input->media_type));
    });
  }
};

// The body is pulled while the response is sent, for as long as the streamer has data. The exchange
// lives until then.
http::Step Stream(const ScopePtr& scope, http::Exchange& exchange) {
  return http::Step::Later([scope, shared = exchange.Share()](http::Resume resume) mutable {
    const std::string& name = shared->Get<request::RequestInfo>().name;
    scope->capabilities.streamer->InputStreamLater(shared->ctx(), name, shared->query().all(),
                                                   AfterOpening{std::move(resume), shared});
  });
}

}  // namespace

http::Handler NewGetHandler(ScopePtr scope) {
  return [scope = std::move(scope)](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayRunHere(exchange, /*read=*/true));
    // Before the Accept header is checked: a stream has its own media type.
    if (scope->capabilities.streamer) return Stream(scope, exchange);
    ASSIGN_OR_RETURN(const response::Negotiated form,
                     response::Negotiate(exchange, &scope->target, /*watch=*/false));
    if (scope->capabilities.getter_with_options) return GetWithOptions(*scope, exchange);
    ASSIGN_OR_RETURN(const meta::GetOptions options, meta::ParseGetOptions(exchange.query().all()));
    return Get(scope, exchange, options, form);
  };
}

}  // namespace apiserver::v0::endpoints
