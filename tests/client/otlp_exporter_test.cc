// Spans on their way to an OpenTelemetry collector, and in which words.
#include "apiserver/client/otlp_exporter.h"

#include <catch2/catch.hpp>

#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/codec/json.h"
#include "base/manual.h"
#include "client/fake_http_client.h"
#include "client/otlp_json.h"

namespace apiserver::inline v0::client {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeHttpClient;

trace::SpanData Named(std::string name) {
  trace::SpanData span{.name = std::move(name)};
  span.context =
      *trace::ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01");
  return span;
}

// An exporter whose time a test moves: 3 spans a batch, 5 in the queue.
struct ExporterFixture {
  explicit ExporterFixture(FakeHttpClient::Answer answer = nullptr)
      : http(std::make_shared<FakeHttpClient>(std::move(answer))),
        exporter(NewOtlpExporter({.client = http,
                                  .url = "http://collector.test:4318/v1/traces",
                                  .headers = {{"X-A", "b"}},
                                  .resource = {{"service.name", "apiserver"}},
                                  .queue_spans_max = 5,
                                  .batch_spans_max = 3,
                                  .backoff = {.duration = seconds(5), .factor = 2, .jitter = 0},
                                  .executor = &executor,
                                  .clock = &clock,
                                  .metrics = metrics})) {}
  ~ExporterFixture() {
    // Whoever is asked answers in the end.
    while (!http->open.empty()) http->End(http::ClientResponse{.code = 200});
  }

  void Add(int spans) {
    for (int i = 0; i < spans; ++i) exporter->OnEnd(Named("s" + std::to_string(next_++)));
    executor.Drain();
  }
  void Advance(milliseconds by) {
    clock.Advance(by);
    executor.Advance(by);
  }
  // The names of the spans of each request so far.
  std::vector<std::vector<std::string>> Sent() const {
    std::vector<std::vector<std::string>> sent;
    for (const HttpRequest& request : http->requests) {
      runtime::Arena arena;
      const auto root = codec::ParseJson(request.body, arena);
      REQUIRE(root.ok());
      sent.emplace_back();
      for (const auto& span : (*root)["resourceSpans"].at(0)["scopeSpans"].at(0)["spans"].items()) {
        sent.back().emplace_back(span["name"].AsString());
      }
    }
    return sent;
  }
  double Exported() const {
    return metrics->Counters({.name = "apiserver_tracing_exported_spans_total"}).With({}).value();
  }
  double Dropped(std::string_view reason) const {
    return metrics->Counters({.name = "apiserver_tracing_dropped_spans_total"})
        .With({reason})
        .value();
  }

  testing::ManualExecutor executor;
  testing::ManualClock clock;
  std::shared_ptr<metrics::Registry> metrics = metrics::NewRegistry();
  std::shared_ptr<FakeHttpClient> http;
  std::shared_ptr<trace::SpanProcessor> exporter;

 private:
  int next_ = 1;
};

using Names = std::vector<std::vector<std::string>>;

Result<http::ClientResponse> Taken(const HttpRequest&) {
  return http::ClientResponse{.code = 200, .body = "{}"};
}

}  // namespace

TEST_CASE("otlp: spans become the JSON that collectors read", "[client]") {
  trace::SpanData span = Named("GET \"/x\"");
  span.context.state = "foo=1";
  span.kind = trace::SpanKind::kServer;
  span.parent_id = {0, 1, 2, 3, 4, 5, 6, 0xff};
  span.start = Clock::Wall(milliseconds(1'600'000'000'001));
  span.end = Clock::Wall(milliseconds(1'600'000'000'500));
  span.attributes = {{"text", "a\n\xff"},
                     {"count", std::numeric_limits<std::int64_t>::max()},
                     {"share", 0.25},
                     {"nan", std::numeric_limits<double>::quiet_NaN()},
                     {"endless", -std::numeric_limits<double>::infinity()},
                     {"yes", true}};
  span.dropped_attributes = 2;
  span.events = {{.name = "e", .time = span.start, .attributes = {{"n", std::int64_t{-1}}}},
                 {.name = "f", .time = span.end}};
  span.dropped_events = 1;
  span.links = {Named("").context};
  span.status = trace::SpanStatus::kError;
  span.status_message = "broken";
  const std::vector<trace::Attribute> resource = {{"service.name", "apiserver"}};
  const std::vector<trace::SpanData> spans = {span, Named("small")};

  CHECK(OtlpJson(resource, spans) ==
        R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":)"
        R"({"stringValue":"apiserver"}}]},"scopeSpans":[{"scope":{"name":"libapiserver"},"spans":[)"
        R"({"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7",)"
        R"("traceState":"foo=1","flags":1,"parentSpanId":"00010203040506ff","name":"GET \"/x\"",)"
        R"("kind":2,"startTimeUnixNano":"1600000000001000000",)"
        R"("endTimeUnixNano":"1600000000500000000","attributes":[)"
        R"({"key":"text","value":{"stringValue":"a\n\ufffd"}},)"
        R"({"key":"count","value":{"intValue":"9223372036854775807"}},)"
        R"({"key":"share","value":{"doubleValue":0.25}},)"
        R"({"key":"nan","value":{"doubleValue":"NaN"}},)"
        R"({"key":"endless","value":{"doubleValue":"-Infinity"}},)"
        R"({"key":"yes","value":{"boolValue":true}}],"droppedAttributesCount":2,)"
        R"("events":[{"timeUnixNano":"1600000000001000000","name":"e","attributes":)"
        R"([{"key":"n","value":{"intValue":"-1"}}]},)"
        R"({"timeUnixNano":"1600000000500000000","name":"f"}],"droppedEventsCount":1,)"
        R"("links":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7",)"
        R"("flags":1}],"status":{"code":2,"message":"broken"}},)"
        R"({"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7","flags":1,)"
        R"("name":"small","kind":1,"startTimeUnixNano":"0","endTimeUnixNano":"0",)"
        R"("attributes":[],"status":{}}]}]}]})");
}

TEST_CASE("otlp: a batch is sent when it is full, or after a while", "[client]") {
  ExporterFixture fixture(&Taken);
  fixture.Add(2);
  fixture.Advance(milliseconds(4'999));
  CHECK(fixture.http->requests.empty());
  fixture.Advance(milliseconds(1));
  CHECK(fixture.Sent() == Names{{"s1", "s2"}});

  fixture.Add(3);
  CHECK(fixture.Sent() == Names{{"s1", "s2"}, {"s3", "s4", "s5"}});
  CHECK(fixture.Exported() == 5);
  fixture.Advance(seconds(60));
  CHECK(fixture.http->requests.size() == 2);
  const HttpRequest& request = fixture.http->requests[0];
  CHECK(request.method == "POST");
  CHECK(request.url == "http://collector.test:4318/v1/traces");
  CHECK(request.headers.Get("Content-Type") == "application/json");
  CHECK(request.headers.Get("X-A") == "b");
  CHECK_FALSE(request.headers.Has("traceparent"));
}

TEST_CASE("otlp: one request at a time, and what there is no room for is counted", "[client]") {
  ExporterFixture fixture;
  fixture.Add(3);
  REQUIRE(fixture.http->open.size() == 1);

  fixture.Add(7);
  CHECK(fixture.http->open.size() == 1);
  CHECK(fixture.Dropped("queue_full") == 2);

  fixture.http->End(http::ClientResponse{.code = 200});
  fixture.executor.Drain();
  CHECK(fixture.Sent() == Names{{"s1", "s2", "s3"}, {"s4", "s5", "s6"}});
  fixture.http->End(http::ClientResponse{.code = 200});
  fixture.Advance(seconds(5));
  CHECK(fixture.Sent().back() == std::vector<std::string>{"s7", "s8"});
}

TEST_CASE("otlp: the queue's bytes are bounded too", "[client]") {
  const auto http = std::make_shared<FakeHttpClient>(&Taken);
  testing::ManualExecutor executor;
  const std::shared_ptr<metrics::Registry> metrics = metrics::NewRegistry();
  const auto exporter = NewOtlpExporter({.client = http,
                                         .url = "http://x.test",
                                         .queue_bytes_max = 10'000,
                                         .executor = &executor,
                                         .metrics = metrics});
  trace::SpanData large = Named("large");
  large.attributes = {{"text", std::string(4'000, 'x')}};

  for (int i = 0; i < 5; ++i) exporter->OnEnd(large);

  auto& dropped = metrics->Counters({.name = "apiserver_tracing_dropped_spans_total"});
  CHECK(dropped.With({"queue_full"}).value() == 3);
}

TEST_CASE("otlp: a batch is sent again only where the collector may take it later", "[client]") {
  struct Case {
    Result<http::ClientResponse> answer;
    bool again;
  };
  const std::vector<Case> cases = {
      {http::ClientResponse{.code = 429}, true},
      {http::ClientResponse{.code = 502}, true},
      {http::ClientResponse{.code = 503}, true},
      {http::ClientResponse{.code = 504}, true},
      {Status(Reason::kServiceUnavailable, "connection refused"), true},
      {Status(Reason::kTimeout, "too slow"), true},
      {http::ClientResponse{.code = 302}, false},
      {http::ClientResponse{.code = 400}, false},
      {http::ClientResponse{.code = 401}, false},
      {http::ClientResponse{.code = 404}, false},
      {http::ClientResponse{.code = 500}, false},
      {http::ClientResponse{.code = 501}, false},
  };
  for (const Case& test : cases) {
    INFO((test.answer.ok() ? test.answer->code : test.answer.status().code()));
    bool first = true;
    ExporterFixture fixture([&](const HttpRequest& request) -> Result<http::ClientResponse> {
      return std::exchange(first, false) ? test.answer : Taken(request);
    });
    fixture.Add(3);
    fixture.Advance(milliseconds(4'999));
    CHECK(fixture.http->requests.size() == 1);
    fixture.Advance(seconds(60));
    CHECK(fixture.http->requests.size() == (test.again ? 2 : 1));
    CHECK(fixture.Exported() == (test.again ? 3 : 0));
    CHECK(fixture.Dropped("failed") == (test.again ? 0 : 3));
  }
}

TEST_CASE("otlp: a collector says when to come again", "[client]") {
  bool first = true;
  ExporterFixture fixture([&](const HttpRequest& request) -> Result<http::ClientResponse> {
    if (!std::exchange(first, false)) return Taken(request);
    return http::ClientResponse{.code = 503, .headers = {{"Retry-After", "20"}}};
  });
  fixture.Add(3);
  fixture.Advance(milliseconds(19'999));
  CHECK(fixture.http->requests.size() == 1);
  fixture.Advance(milliseconds(1));
  CHECK(fixture.http->requests.size() == 2);
  CHECK(fixture.Exported() == 3);
}

TEST_CASE("otlp: a collector that stays away costs a batch after some attempts", "[client]") {
  ExporterFixture fixture([](const HttpRequest&) -> Result<http::ClientResponse> {
    return Status(Reason::kServiceUnavailable, "connection refused");
  });
  fixture.Add(4);
  for (int i = 0; i < 200 && fixture.Dropped("failed") == 0; ++i) fixture.Advance(seconds(1));
  CHECK(fixture.http->requests.size() == 5);
  CHECK(fixture.Dropped("failed") == 3);
  fixture.Advance(seconds(5));
  CHECK(fixture.Sent().back() == std::vector<std::string>{"s4"});
}

TEST_CASE("otlp: spans that the collector rejects are counted", "[client]") {
  const std::string rejected = GENERATE("\"2\"", "2");
  ExporterFixture fixture([&](const HttpRequest&) -> Result<http::ClientResponse> {
    return http::ClientResponse{
        .code = 200,
        .body = R"({"partialSuccess":{"rejectedSpans":)" + rejected + R"(,"errorMessage":"no"}})"};
  });
  fixture.Add(3);
  CHECK(fixture.Exported() == 1);
  CHECK(fixture.Dropped("rejected") == 2);
}

TEST_CASE("otlp: whatever a collector answers, no more is rejected than was sent", "[client]") {
  CHECK(ReadOtlpAnswer("").rejected_spans == 0);
  CHECK(ReadOtlpAnswer("<html>").rejected_spans == 0);
  CHECK(ReadOtlpAnswer("[1]").rejected_spans == 0);
  CHECK(ReadOtlpAnswer(R"({"partialSuccess":{"rejectedSpans":"x"}})").rejected_spans == 0);
  CHECK(ReadOtlpAnswer(R"({"partialSuccess":{"rejectedSpans":-3}})").rejected_spans == 0);
  ExporterFixture fixture([](const HttpRequest&) -> Result<http::ClientResponse> {
    return http::ClientResponse{.code = 200,
                                .body = R"({"partialSuccess":{"rejectedSpans":"99999"}})"};
  });
  fixture.Add(3);
  CHECK(fixture.Exported() == 0);
  CHECK(fixture.Dropped("rejected") == 3);
}

TEST_CASE("otlp: Flush sends all batches, and gives up in time", "[client]") {
  ExporterFixture fixture(&Taken);
  fixture.Add(2);
  fixture.exporter->Flush(seconds(60));
  CHECK(fixture.Sent() == Names{{"s1", "s2"}});

  ExporterFixture silent;
  silent.Add(3);
  silent.exporter->Flush(milliseconds(1));
  CHECK(silent.http->open.size() == 1);
  CHECK(silent.Exported() == 0);
}

TEST_CASE("otlp: what is left in the end is counted, and nothing sent any more", "[client]") {
  ExporterFixture fixture;
  fixture.Add(5);
  REQUIRE(fixture.http->open.size() == 1);
  fixture.exporter = nullptr;
  CHECK(fixture.Dropped("shutdown") == 2);

  fixture.http->End(http::ClientResponse{.code = 503});
  fixture.Advance(seconds(60));
  CHECK(fixture.http->requests.size() == 1);
  CHECK(fixture.Dropped("failed") == 3);
}

TEST_CASE("otlp: an exporter has a thread of its own if it is given none", "[client]") {
  const auto http = std::make_shared<FakeHttpClient>(&Taken);
  const auto exporter = NewOtlpExporter({.client = http, .url = "http://x.test"});
  exporter->OnEnd(Named("s"));
  exporter->Flush(seconds(60));
  CHECK(http->requests.size() == 1);
}

}  // namespace apiserver::inline v0::client
