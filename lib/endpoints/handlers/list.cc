#include <algorithm>
#include <chrono>

#include "apiserver/meta/errors.h"
#include "base/status_macros.h"
#include "endpoints/handlers/handlers.h"

namespace apiserver::v0::endpoints {

namespace {

// Returns the client's timeout, else one to two times the minimum, as handlers.ListResource: so
// that clients do not all come back at once.
std::chrono::milliseconds WatchTimeout(const Environment& environment,
                                       const meta::ListOptions& options) {
  constexpr std::int64_t kSecondsMax = 365LL * 24 * 3600;
  if (options.timeout_seconds && *options.timeout_seconds > 0) {
    return std::chrono::seconds(std::min(*options.timeout_seconds, kSecondsMax));
  }
  const auto least = environment.min_request_timeout;
  const auto extra = environment.random->Below(static_cast<std::uint64_t>(least.count()) + 1);
  return least + std::chrono::milliseconds(extra);
}

// A watch must not be cut by the request's own timeout, so it has one of its own.
http::Step Watch(const ScopePtr& scope, http::Exchange& exchange,
                 const meta::ListOptions& options) {
  if (!scope->capabilities.watcher) {
    return meta::NewMethodNotSupported(scope->resource.group_resource(), "watch");
  }
  RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope->target, /*watch=*/true));
  const std::chrono::milliseconds timeout = WatchTimeout(*scope->environment, options);
  auto stream = scope->capabilities.watcher->Watch(exchange.ctx(), options,
                                                   scope->environment->clock->Now() + timeout);
  // Only a watch that begins with a list must wait for the newest state; others start wherever the
  // cache is.
  const bool consistent =
      options.resource_version.empty() && options.send_initial_events.value_or(false);
  if (stream.status().reason() == Reason::kWouldBlock && consistent) {
    return WhenFresh(scope, exchange,
                     [scope, &exchange, options = options](std::string version) mutable {
                       options.resource_version = std::move(version);
                       return Watch(scope, exchange, options);
                     });
  }
  RETURN_IF_ERROR(stream.status());
  const bool watch_list =
      options.send_initial_events.value_or(false) && options.allow_watch_bookmarks;
  return response::WriteWatch(
      exchange, std::move(*stream), scope->target,
      {.timeout = timeout, .watch_list = watch_list, .on_pool = !scope->ReadsInline()});
}

http::Step List(const ScopePtr& scope, http::Exchange& exchange, const meta::ListOptions& options) {
  const auto list = scope->capabilities.lister->List(exchange.ctx(), options);
  // A continued page has a revision already, so it needs no wait.
  const bool consistent = options.resource_version.empty() && options.continue_token.empty();
  if (list.status().reason() == Reason::kWouldBlock && consistent) {
    return WhenFresh(scope, exchange,
                     [scope, &exchange, options = options](std::string version) mutable {
                       options.resource_version = std::move(version);
                       options.resource_version_match = meta::ResourceVersionMatch::kNotOlderThan;
                       return List(scope, exchange, options);
                     });
  }
  RETURN_IF_ERROR(list.status());
  return response::WriteList(exchange, *list, scope->target);
}

}  // namespace

// One handler for list, "?watch" and the deprecated watch paths; the verb was decided by
// RequestInfo.
http::Handler NewListHandler(ScopePtr scope, ListForm form) {
  return [scope = std::move(scope), form](http::Exchange& exchange) -> http::Step {
    RETURN_IF_ERROR(scope->MayRunHere(exchange, /*read=*/true));
    const auto& info = exchange.Get<request::RequestInfo>();
    // Only /watch/ paths have a name in the path (parts: flunders/x); one from the field selector
    // is in the selector already.
    const bool forced_watch = form == ListForm::kWatchPath;
    const std::string_view name = forced_watch && info.parts.size() > 1 ? info.parts[1] : "";
    ASSIGN_OR_RETURN(const meta::ListOptions options,
                     ReadListOptions(*scope, exchange, forced_watch, name));
    if (form != ListForm::kList) return Watch(scope, exchange, options);
    RETURN_IF_ERROR(response::CheckAcceptable(exchange, scope->target, /*watch=*/false));
    return List(scope, exchange, options);
  };
}

}  // namespace apiserver::v0::endpoints
