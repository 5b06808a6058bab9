// Calls to other servers in traces: component-base/tracing.WrapperFor.
#include "apiserver/client/tracing.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <utility>

#include "base/kept_spans.h"
#include "client/fake_http_client.h"

namespace apiserver::inline v0::client {
namespace {

using testing::AttributeOf;
using testing::FakeHttpClient;
using testing::KeptSpans;

struct TracedCalls {
  explicit TracedCalls(FakeHttpClient::Answer answer)
      : fake(std::make_shared<FakeHttpClient>(std::move(answer))), client(WithTracing(fake)) {}
  // One call by work whose current span is `span`.
  void Call(trace::Span span, HttpRequest request) {
    Context ctx = Context::Child(Context::Background());
    ctx.Set(std::move(span));
    (void)client->Call(ctx, std::move(request));
  }
  std::shared_ptr<KeptSpans> kept = std::make_shared<KeptSpans>();
  std::shared_ptr<const trace::Tracer> tracer = KeptSpans::Tracer(kept);
  std::shared_ptr<FakeHttpClient> fake;
  std::shared_ptr<HttpClient> client;
};

Result<http::ClientResponse> Ok(const HttpRequest&) { return http::ClientResponse{.code = 200}; }

}  // namespace

TEST_CASE("client: a call is a span, and tells the server which", "[client]") {
  TracedCalls calls(&Ok);
  trace::Span work = calls.tracer->StartRoot("work");
  const trace::SpanContext parent = work.context();

  calls.Call(std::move(work), {.url = "https://me:secret@hook.test:8443/x?timeout=10s"});

  const auto spans = calls.kept->all();
  REQUIRE(spans.size() == 2);
  const trace::SpanData& span = testing::SpanNamed(spans, "HTTP POST");
  CHECK(span.kind == trace::SpanKind::kClient);
  CHECK(span.parent_id == parent.span_id);
  CHECK(span.context.trace_id == parent.trace_id);
  CHECK(AttributeOf(span, "http.request.method") == "POST");
  CHECK(AttributeOf(span, "url.full") == "https://hook.test:8443/x?timeout=10s");
  CHECK(AttributeOf(span, "server.address") == "hook.test");
  CHECK(AttributeOf(span, "server.port") == "8443");
  CHECK(AttributeOf(span, "http.response.status_code") == "200");
  CHECK(span.status == trace::SpanStatus::kUnset);
  REQUIRE(calls.fake->requests.size() == 1);
  const http::Headers& sent = calls.fake->requests[0].headers;
  CHECK(sent.Get("traceparent") == trace::FormatTraceparent(span.context));
  CHECK_FALSE(sent.Has("tracestate"));
}

TEST_CASE("client: a trace's state and decision go on to the server", "[client]") {
  const bool sampled = GENERATE(false, true);
  TracedCalls calls(&Ok);
  trace::SpanContext caller =
      *trace::ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00");
  caller.sampled = sampled;
  caller.state = "foo=1,bar=2";

  calls.Call(calls.tracer->StartWithParent("work", caller), {.url = "http://hook.test"});

  const http::Headers& sent = calls.fake->requests.at(0).headers;
  CHECK(sent.Get("tracestate") == "foo=1,bar=2");
  const auto told = trace::ParseTraceparent(sent.Get("traceparent"));
  REQUIRE(told);
  CHECK(told->trace_id == caller.trace_id);
  CHECK(told->span_id != caller.span_id);
  CHECK(told->sampled == sampled);
  CHECK(calls.kept->all().size() == (sampled ? 2 : 0));
}

TEST_CASE("client: calls of work that is not traced are left alone", "[client]") {
  TracedCalls calls(&Ok);

  REQUIRE(calls.client->Call(Context::Background(), {.url = "http://hook.test"}).ok());

  CHECK(calls.fake->requests.at(0).headers.empty());
  CHECK(calls.kept->all().empty());
}

TEST_CASE("client: a call that fails is an error of its span", "[client]") {
  struct Case {
    Result<http::ClientResponse> answer;
    std::string type;
    std::string message;
  };
  const std::vector<Case> cases = {
      {http::ClientResponse{.code = 404}, "404", ""},
      {http::ClientResponse{.code = 503}, "503", ""},
      {Status(Reason::kServiceUnavailable, "connection refused"), "", "connection refused"},
  };
  for (const Case& test : cases) {
    TracedCalls calls([&test](const HttpRequest&) { return test.answer; });
    calls.Call(calls.tracer->StartRoot("work"), {.url = "http://[::1]:80/"});
    const auto spans = calls.kept->all();
    const trace::SpanData& span = testing::SpanNamed(spans, "HTTP POST");
    CHECK(span.status == trace::SpanStatus::kError);
    CHECK(span.status_message == test.message);
    CHECK(AttributeOf(span, "error.type") == test.type);
    CHECK(AttributeOf(span, "server.address") == "[::1]");
  }
}

TEST_CASE("client: a factory's clients are traced, and its errors are its own", "[client]") {
  CHECK_FALSE(WithTracing(HttpClientFactory()));
  const auto fake = std::make_shared<FakeHttpClient>(&Ok);
  const HttpClientFactory factory =
      WithTracing([&fake](const HttpClientOptions& options) -> Result<std::shared_ptr<HttpClient>> {
        if (!options.address.empty()) return Status(Reason::kInvalid, "no such address");
        return std::static_pointer_cast<HttpClient>(fake);
      });
  CHECK(factory({.address = "x"}).status().message() == "no such address");
  const auto kept = std::make_shared<KeptSpans>();
  Context ctx = Context::Child(Context::Background());
  ctx.Set(KeptSpans::Tracer(kept)->StartRoot("work"));
  REQUIRE((*factory({}))->Call(ctx, {.method = "GET", .url = "http://x.test"}).ok());
  CHECK(testing::SpanNamed(kept->all(), "HTTP GET").kind == trace::SpanKind::kClient);
}

}  // namespace apiserver::inline v0::client
