#include "endpoints/handler_span.h"

#include <array>
#include <string>
#include <utility>

#include "apiserver/base/trace.h"

namespace apiserver::v0::endpoints {

namespace {

// Marks the current span as the handler's.
struct HandlerTraced {};

// Returns the span's name in k8s.io/apiserver/pkg/endpoints/handlers. Empty: there is no span.
std::string_view SpanNameOf(std::string_view verb) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames = {
      {{"get", "Get"},
       {"list", "List"},
       {"watch", "WatchServer.HandleHTTP"},
       {"create", "Create"},
       {"update", "Update"},
       {"patch", "Patch"},
       {"delete", "Delete"},
       {"deletecollection", "Delete"}}};
  for (const auto& [of, name] : kNames) {
    if (of == verb) return name;
  }
  return {};
}

// The values of the attribute `scope` in upstream's traces.
std::string_view ScopeOfRequest(const request::RequestInfo& info) {
  if (!info.name.empty() || info.verb == "create") return "resource";
  return info.namespace_.empty() ? "cluster" : "namespace";
}

}  // namespace

// Starts one span a request: a handler that runs again after waiting goes on with it.
void StartHandlerSpan(http::Exchange& exchange, const request::RequestInfo& info) {
  const auto* const current = exchange.Find<trace::Span>();
  if (!current || !current->recording() || exchange.Find<HandlerTraced>()) return;
  const std::string_view name = SpanNameOf(info.verb);
  if (name.empty()) return;
  trace::Span span = trace::StartSpan(exchange.ctx(), name);
  const http::Request& request = exchange.request();
  const auto text = [&span](std::string_view key, std::string_view value) {
    span.SetAttribute(key, std::string(value));
  };
  text("accept", request.headers.Get("Accept"));
  text("api-group", info.api_group);
  text("api-version", info.api_version);
  text("name", info.name);
  text("subresource", info.subresource);
  text("namespace", info.namespace_);
  text("protocol", request.http_major == 2 ? "HTTP/2.0" : "HTTP/1.1");
  text("resource", info.resource);
  text("scope", ScopeOfRequest(info));
  text("url", request.path);
  text("user-agent", request.headers.Get("User-Agent"));
  text("verb", request.method);
  exchange.Set(HandlerTraced{});
  exchange.Set(std::move(span));
}

}  // namespace apiserver::v0::endpoints
