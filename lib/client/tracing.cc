#include "apiserver/client/tracing.h"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "apiserver/base/trace.h"
#include "apiserver/http/trace_headers.h"
#include "base/status_macros.h"
#include "client/called_url.h"

namespace apiserver::v0::client {

namespace {

void TellAddress(std::string_view authority, trace::Span& span) {
  const std::size_t colon = authority.rfind(':');
  std::int64_t port = 0;
  // A colon inside of brackets belongs to an IPv6 address.
  if (colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos) {
    const std::string_view text = authority.substr(colon + 1);
    std::from_chars(text.data(), text.data() + text.size(), port);
    authority = authority.substr(0, colon);
  }
  span.SetAttribute("server.address", std::string(authority));
  if (port > 0) span.SetAttribute("server.port", port);
}

void TellCall(const HttpRequest& request, trace::Span& span) {
  const CalledUrl url = PartsOf(request.url);
  span.SetAttribute("http.request.method", request.method);
  // Without credentials.
  span.SetAttribute("url.full",
                    std::string(url.scheme).append("://").append(url.authority).append(url.rest));
  TellAddress(url.authority, span);
}

void TellOutcome(const Result<http::ClientResponse>& outcome, trace::Span& span) {
  if (!outcome.ok()) return span.SetError(outcome.status().message());
  span.SetAttribute("http.response.status_code", std::int64_t{outcome->code});
  if (outcome->code < 400) return;
  span.SetAttribute("error.type", std::to_string(outcome->code));
  span.SetError("");
}

class TracedClient final : public HttpClient {
 public:
  explicit TracedClient(std::shared_ptr<HttpClient> client) : client_(std::move(client)) {}

  void Start(const Context& ctx, HttpRequest request, Done done) override {
    const auto* const current = ctx.Get<trace::Span>();
    if (current == nullptr || !current->context().valid()) {
      return client_->Start(ctx, std::move(request), std::move(done));
    }
    trace::Span span =
        trace::StartSpan(ctx, "HTTP " + request.method, {.kind = trace::SpanKind::kClient});
    if (!span.recording()) {
      // The called server shall not record the request either.
      http::WriteTraceHeaders(current->context(), request.headers);
      return client_->Start(ctx, std::move(request), std::move(done));
    }
    TellCall(request, span);
    http::WriteTraceHeaders(span.context(), request.headers);
    client_->Start(ctx, std::move(request),
                   [span = std::move(span),
                    done = std::move(done)](Result<http::ClientResponse> outcome) mutable {
                     TellOutcome(outcome, span);
                     span.End();
                     done(std::move(outcome));
                   });
  }

 private:
  const std::shared_ptr<HttpClient> client_;
};

}  // namespace

std::shared_ptr<HttpClient> WithTracing(std::shared_ptr<HttpClient> client) {
  return std::make_shared<TracedClient>(std::move(client));
}

HttpClientFactory WithTracing(HttpClientFactory factory) {
  if (!factory) return factory;
  return [factory = std::move(factory)](
             const HttpClientOptions& options) -> Result<std::shared_ptr<HttpClient>> {
    ASSIGN_OR_RETURN(std::shared_ptr<HttpClient> client, factory(options));
    return WithTracing(std::move(client));
  };
}

}  // namespace apiserver::v0::client
