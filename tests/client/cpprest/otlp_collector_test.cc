// Spans on their way to a collector over a real connection.
#include <catch2/catch.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/base/executor.h"
#include "apiserver/client/otlp_exporter.h"
#include "apiserver/codec/json.h"
#include "apiserver/http/listener.h"
#include "client/http_client/raw_server.h"

namespace http_client_test {
namespace {

struct Collected {
  std::string trace_id;
  std::string span_id;
  std::string parent_id;
  std::string name;
  std::string service;
};

class WholeBody final : public http::Filter {
 public:
  std::string_view name() const override { return "body"; }
  http::Step Begin(http::Exchange& exchange) const override {
    return exchange.CollectBody(16 << 20);
  }
};

// An OTLP collector over TLS as "server.test" on our own listener. It is busy at first.
class Collector {
 public:
  Collector() : pool_(NewThreadPool({.name = "collector"})) {
    service_.pool = pool_.get();
    service_.filters.push_back(std::make_unique<WholeBody>());
    service_.handler = [this](http::Exchange& exchange) { return Take(exchange); };
    listener_ = http::Listen({.tls = http::NewServerTls(Pki().server).value()}, service_).value();
  }
  ~Collector() { listener_->Stop(std::chrono::milliseconds(0)); }

  std::string address() const { return "127.0.0.1:" + std::to_string(listener_->port()); }
  std::vector<Collected> spans() const { return *spans_.Lock(); }
  int requests() const { return requests_; }

 private:
  http::Step Take(http::Exchange& exchange) {
    if (++requests_ == 1) {
      exchange.writer().Send({.code = 503}, "busy");
      return http::Step::Done();
    }
    const http::Request& request = exchange.request();
    const bool right = request.method == "POST" && request.target == "/v1/traces" &&
                       request.headers.Get("Content-Type") == "application/json";
    runtime::Arena arena;
    const auto root = codec::ParseJson(*exchange.body(), arena);
    if (!right || !root.ok()) {
      exchange.writer().Send({.code = 400}, "no export");
      return http::Step::Done();
    }
    for (const runtime::Value from : (*root)["resourceSpans"].items()) Take(from);
    exchange.writer().Send({.headers = {{"Content-Type", "application/json"}}},
                           R"({"partialSuccess":{}})");
    return http::Step::Done();
  }
  void Take(const runtime::Value& from) {
    std::string service;
    for (const runtime::Value attribute : from["resource"]["attributes"].items()) {
      if (attribute["key"].AsString() == "service.name") {
        service = attribute["value"]["stringValue"].AsString();
      }
    }
    const auto text = [](const runtime::Value& value) { return std::string(value.AsString()); };
    for (const runtime::Value scope : from["scopeSpans"].items()) {
      for (const runtime::Value span : scope["spans"].items()) {
        spans_.Lock()->push_back({text(span["traceId"]), text(span["spanId"]),
                                  text(span["parentSpanId"]), text(span["name"]), service});
      }
    }
  }

  const std::unique_ptr<ThreadPool> pool_;
  http::Service service_;
  std::unique_ptr<http::Listener> listener_;
  Guarded<std::vector<Collected>> spans_;
  std::atomic<int> requests_{0};
};

TEST_CASE("client.cpprest: spans reach a collector that was busy at first", "[client.cpprest]") {
  Collector collector;
  const std::shared_ptr<metrics::Registry> metrics = metrics::NewRegistry();
  std::string trace_id;
  std::string root_id;
  {
    const auto tracer = trace::Tracer::New(
        {.processor = NewOtlpExporter(
             {.client = NewClient(Trusting(collector.address())),
              .url = "https://server.test/v1/traces",
              .resource = {{"service.name", "sample"}},
              .backoff = {.duration = std::chrono::milliseconds(1), .jitter = 0, .steps = 3},
              .metrics = metrics}),
         .sampling_rate_per_million = 1'000'000});
    Context ctx = Context::Child(Context::Background());
    trace::Span& root = ctx.Set(tracer->StartRoot("work"));
    trace::StartSpan(ctx, "part").End();
    root.End();
    trace_id = root.context().TraceIdHex();
    root_id = root.context().SpanIdHex();
    tracer->Flush(std::chrono::seconds(60));
  }

  CHECK(collector.requests() == 2);
  const auto spans = collector.spans();
  REQUIRE(spans.size() == 2);
  CHECK(spans[0].name == "part");
  CHECK(spans[0].parent_id == root_id);
  CHECK(spans[1].name == "work");
  CHECK(spans[1].parent_id.empty());
  for (const Collected& span : spans) {
    CHECK(span.trace_id == trace_id);
    CHECK(span.service == "sample");
  }
  CHECK(metrics->Counters({.name = "apiserver_tracing_exported_spans_total"}).With({}).value() ==
        2);
}

TEST_CASE("client.cpprest: a collector that nobody trusts gets no span", "[client.cpprest]") {
  Collector collector;
  const std::shared_ptr<metrics::Registry> metrics = metrics::NewRegistry();
  const auto exporter = NewOtlpExporter({.client = NewClient({.address = collector.address()}),
                                         .url = "https://server.test/v1/traces",
                                         .backoff = {.steps = 1},
                                         .metrics = metrics});
  exporter->OnEnd({.name = "secret"});
  exporter->Flush(std::chrono::seconds(60));

  CHECK(collector.requests() == 0);
  CHECK(metrics->Counters({.name = "apiserver_tracing_dropped_spans_total"})
            .With({"failed"})
            .value() == 1);
}

}  // namespace
}  // namespace http_client_test
