// Webhooks in traces.
#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/kept_spans.h"
#include "webhook_fixture.h"

using namespace apiserver;  // NOLINT: tests only.
using namespace apiserver::testing;

TEST_CASE("webhook: every call is a span, and its server is told which", "[admission]") {
  Webhooks webhooks(
      {Mutating(WebhookAt("changes", "noop")), WebhookAt("a", "allow"), WebhookAt("b", "allow")});
  WidgetRequest request;
  const auto kept = std::make_shared<KeptSpans>();
  trace::Span& root = request.ctx.Set(KeptSpans::Tracer(kept)->StartRoot("Update"));

  REQUIRE(webhooks.Run(request).ok());
  root.End();

  const auto spans = kept->all();
  CHECK(TreeOf(spans) == std::vector<std::string>{
                             "Call mutating webhook < Update", "Call validating webhook < Update",
                             "Call validating webhook < Update",
                             "HTTP POST < Call mutating webhook < Update",
                             "HTTP POST < Call validating webhook < Update",
                             "HTTP POST < Call validating webhook < Update", "Update"});
  const trace::SpanData& call = SpanNamed(spans, "Call mutating webhook");
  CHECK(AttributeOf(call, "configuration") == "test-webhooks");
  CHECK(AttributeOf(call, "webhook") == "changes");
  CHECK(AttributeOf(call, "resource") == "example.com/v1, Resource=widgets");
  CHECK(AttributeOf(call, "operation") == "UPDATE");
  CHECK(AttributeOf(call, "UID").size() == 36);
  const auto sent = webhooks.servers.requests();
  REQUIRE(sent.size() == 3);
  for (const client::HttpRequest& each : sent) {
    const auto told = trace::ParseTraceparent(each.headers.Get("traceparent"));
    REQUIRE(told);
    CHECK(told->trace_id == root.context().trace_id);
    CHECK(std::count_if(spans.begin(), spans.end(), [&told](const trace::SpanData& span) {
            return span.name == "HTTP POST" && span.context.span_id == told->span_id;
          }) == 1);
  }
}

TEST_CASE("webhook: what a webhook fails at is an error of its span", "[admission]") {
  Webhooks webhooks({Mutating(WebhookAt("broken", "nonStatusError"))});
  WidgetRequest request;
  const auto kept = std::make_shared<KeptSpans>();
  request.ctx.Set(KeptSpans::Tracer(kept)->StartRoot("Update"));

  REQUIRE_FALSE(webhooks.Run(request).ok());

  for (const char* name : {"Call mutating webhook", "HTTP POST"}) {
    const auto spans = kept->all();
    CHECK(SpanNamed(spans, name).status == trace::SpanStatus::kError);
    CHECK(SpanNamed(spans, name).status_message == "malformed HTTP response \"bad-http\"");
  }
}

TEST_CASE("webhook: without a trace webhooks are told nothing of one", "[admission]") {
  Webhooks webhooks({Mutating(WebhookAt("changes", "noop")), WebhookAt("a", "allow")});
  WidgetRequest request;
  REQUIRE(webhooks.Run(request).ok());
  for (const client::HttpRequest& each : webhooks.servers.requests()) {
    CHECK_FALSE(each.headers.Has("traceparent"));
  }
}
