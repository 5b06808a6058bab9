// The span of each request: k8s.io/apiserver/pkg/endpoints/filters/traces.go, with the attributes
// of otelhttp (semantic conventions for HTTP).

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>

#include "apiserver/auth/user.h"
#include "apiserver/base/trace.h"
#include "apiserver/http/trace_headers.h"
#include "server/filters/filters.h"
#include "server/requests/access_log.h"
#include "server/requests/redact.h"

namespace apiserver::v0::server {

namespace {

// Limits the id in a span, which the client chooses.
constexpr std::size_t kTracedAuditIdMax = 64;
constexpr std::array<std::string_view, 9> kKnownMethods = {
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"};

// The span of the request as a whole; its handler's span hides it in the Context.
struct ServerSpan {
  trace::Span* span;
};

// True if the client may decide that a request is recorded, and in which trace.
bool MayDecideOnTraces(const http::Exchange& exchange) {
  const auto* user = exchange.Find<auth::UserInfoPtr>();
  return user && *user &&
         ((*user)->InGroup(auth::kSystemPrivilegedGroup) || (*user)->InGroup("system:monitoring"));
}

// Returns the route without names: "GET /apis/apps/v1/namespaces/{:namespace}/deployments/{:name}".
std::string NameOfSpan(const http::Exchange& exchange) {
  std::string name = exchange.request().method;
  const auto& info = exchange.Get<request::RequestInfo>();
  if (!info.is_resource_request) return name;
  const auto add = [&name](std::string_view part) { name.append("/").append(part); };
  name += ' ';
  add(info.api_prefix);
  if (!info.api_group.empty()) add(info.api_group);
  add(info.api_version);
  if (!info.namespace_.empty()) add("namespaces/{:namespace}");
  add(info.resource);
  if (!info.name.empty()) add("{:name}");
  if (!info.subresource.empty()) add(info.subresource);
  return name;
}

struct Peer {
  std::string_view host;
  std::optional<std::int64_t> port;
};

// Parses "127.0.0.1:40000", "[::1]:40000", "example.com", "".
Peer PeerOf(std::string_view address) {
  Peer peer{.host = address};
  const std::size_t colon = address.rfind(':');
  const bool bracketed = address.starts_with('[');
  const bool has_port = colon != std::string_view::npos &&
                        (bracketed ? colon > address.find(']') : address.find(':') == colon);
  if (has_port) {
    peer.host = address.substr(0, colon);
    std::int64_t port = 0;
    const char* const end = address.data() + address.size();
    const auto read = std::from_chars(address.data() + colon + 1, end, port);
    if (read.ec == std::errc() && read.ptr == end && port > 0) peer.port = port;
  }
  if (bracketed && peer.host.ends_with(']')) peer.host = peer.host.substr(1, peer.host.size() - 2);
  return peer;
}

void TellMethod(const std::string& method, trace::Span& span) {
  const bool known =
      std::find(kKnownMethods.begin(), kKnownMethods.end(), method) != kKnownMethods.end();
  span.SetAttribute("http.request.method", known ? method : "_OTHER");
  if (!known) span.SetAttribute("http.request.method_original", method);
}

void TellPeers(const http::Request& request, trace::Span& span) {
  const auto text = [&span](std::string_view key, std::string_view value) {
    if (!value.empty()) span.SetAttribute(key, std::string(value));
  };
  const Peer server = PeerOf(request.host);
  text("server.address", server.host);
  if (server.port && *server.port != (request.tls ? 443 : 80)) {
    span.SetAttribute("server.port", *server.port);
  }
  const Peer peer = PeerOf(request.remote_address);
  text("network.peer.address", peer.host);
  if (peer.port) span.SetAttribute("network.peer.port", *peer.port);
  std::string_view client = request.headers.Get("X-Forwarded-For");
  client = client.substr(0, client.find(','));
  text("client.address", client.empty() ? peer.host : client);
  text("user_agent.original", request.headers.Get("User-Agent"));
}

void TellRequest(const http::Exchange& exchange, trace::Span& span) {
  const http::Request& request = exchange.request();
  span.SetName(NameOfSpan(exchange));
  TellMethod(request.method, span);
  span.SetAttribute("url.scheme", request.tls ? "https" : "http");
  span.SetAttribute("url.path", request.path);
  span.SetAttribute("network.protocol.version", request.http_major == 2 ? "2" : "1.1");
  TellPeers(request, span);
  span.SetAttribute("http.target", RedactedTarget(request.target));
  if (const auto* id = exchange.Find<AuditId>()) {
    span.SetAttribute("audit-id", id->value.substr(0, kTracedAuditIdMax));
  }
}

void TellAnswer(const http::Exchange& exchange, const http::Outcome& outcome, trace::Span& span) {
  const auto bytes = [&span](std::string_view key, std::size_t count) {
    if (count > 0) span.SetAttribute(key, static_cast<std::int64_t>(count));
  };
  bytes("http.request.body.size", exchange.body_bytes());
  bytes("http.response.body.size", outcome.response_bytes);
  bytes("http.response.status_code", static_cast<std::size_t>(std::max(outcome.code, 0)));
  if (outcome.code < 100 || outcome.code >= 500) span.SetError(outcome.error.message());
}

class Tracing final : public http::Filter {
 public:
  explicit Tracing(const trace::Tracer& tracer) : tracer_(tracer) {}

  std::string_view name() const override { return "tracing"; }

  http::Step Begin(http::Exchange& exchange) const override {
    const auto caller = http::ReadTraceHeaders(exchange.request().headers);
    const trace::SpanOptions options{.kind = trace::SpanKind::kServer,
                                     .age = RealClock().Now() - exchange.received()};
    trace::Span span = caller && MayDecideOnTraces(exchange)
                           ? tracer_.StartWithParent("", *caller, options)
                           : tracer_.StartRoot("", options, caller ? &*caller : nullptr);
    if (span.recording()) {
      TellRequest(exchange, span);
      AddKeyValue(exchange.ctx(), "traceID", span.context().TraceIdHex());
    }
    exchange.Set(ServerSpan{&exchange.Set(std::move(span))});
    return http::Step::Next();
  }

  void End(http::Exchange& exchange, const http::Outcome& outcome) const override {
    const auto* const server = exchange.Find<ServerSpan>();
    if (!server || !server->span->recording()) return;
    auto* const innermost = exchange.ctx().Mutable<trace::Span>();
    // The handler's span, if it has one, ends with the request.
    if (innermost != server->span) innermost->End();
    TellAnswer(exchange, outcome, *server->span);
    server->span->End();
  }

 private:
  const trace::Tracer& tracer_;
};

}  // namespace

FilterPtr NewTracing(const trace::Tracer& tracer) { return std::make_unique<Tracing>(tracer); }

}  // namespace apiserver::v0::server
