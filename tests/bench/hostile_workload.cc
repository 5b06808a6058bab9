#include "bench/hostile_workload.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/http/dialer.h"
#include "bench/corpus.h"
#include "hostile_bodies.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::http::ClientRequest;

constexpr int kRunsOfEach = 3;

struct Cost {
  double answer_bytes = 0;
  double cpu_ms = 0;
  double extra_bytes = 0;
};

Result<Cost> Measure(ServerUnderTest& server, apiserver::http::Connection& connection,
                     const hostile_bodies::Shape& shape, const std::string& body) {
  server.ResetPeakRss();
  const double rss = server.RssBytes();
  const double cpu = server.CpuSeconds();
  const auto answer =
      connection.Call(Context::Background(), {.method = shape.method,
                                              .target = shape.target,
                                              .headers = {{"Content-Type", shape.content_type}},
                                              .body = body});
  if (!answer.ok()) return answer.status();
  if (answer->code < 400 && shape.code != 0) {
    return Status(Reason::kInternalError,
                  shape.name + " was answered with " + std::to_string(answer->code));
  }
  // An object that is taken is answered with itself.
  const std::size_t bytes = answer->code < 400 ? 0 : answer->body.size();
  return Cost{.answer_bytes = static_cast<double>(bytes),
              .cpu_ms = (server.CpuSeconds() - cpu) * 1e3,
              .extra_bytes = std::max(server.PeakRssBytes() - rss, 0.0)};
}

// The largest of each figure over some runs.
Result<Cost> Worst(ServerUnderTest& server, apiserver::http::Dialer& dialer,
                   const hostile_bodies::Shape& shape) {
  const std::string body = shape.body();
  Cost worst;
  for (int run = 0; run < kRunsOfEach; ++run) {
    auto connection = dialer.Dial(Context::Background(), server.dial());
    if (!connection.ok()) return connection.status();
    const auto cost = Measure(server, **connection, shape, body);
    if (!cost.ok()) return cost;
    worst.answer_bytes = std::max(worst.answer_bytes, cost->answer_bytes);
    worst.cpu_ms = std::max(worst.cpu_ms, cost->cpu_ms);
    worst.extra_bytes = std::max(worst.extra_bytes, cost->extra_bytes);
  }
  return worst;
}

void Add(const std::string& name, const Cost& cost, Report& report) {
  report.Add({name, "answer_bytes", cost.answer_bytes, "bytes"});
  report.Add({name, "server_cpu_ms", cost.cpu_ms, "ms"});
  report.Add({name, "extra_rss_bytes", cost.extra_bytes, "bytes"});
}

}  // namespace

Status RunHostile(ServerUnderTest& server, Report& report) {
  if (!server.has_process()) return {};
  const auto dialer = apiserver::http::NewDialer();
  const hostile_bodies::Plain plain = {CollectionOf(NamespaceOf(0)), "wardle.example.com/v1alpha1",
                                       "Flunder"};
  BENCH_ASSIGN(connection, dialer->Dial(Context::Background(), server.dial()));
  const std::string victim = R"({"apiVersion":")" + plain.api_version + R"(","kind":")" +
                             plain.kind + R"(","metadata":{"name":"victim"}})";
  BENCH_ASSIGN(made, connection->Call(Context::Background(),
                                      {.method = "POST",
                                       .target = plain.collection,
                                       .headers = {{"Content-Type", hostile_bodies::kJson}},
                                       .body = victim}));
  if (made.code >= 400 && made.code != 409) return {Reason::kInternalError, made.body};
  Cost most;
  for (const hostile_bodies::Shape& shape : hostile_bodies::All(plain)) {
    BENCH_ASSIGN(cost, Worst(server, *dialer, shape));
    Add("limits/wrong: " + shape.name, cost, report);
    most.answer_bytes = std::max(most.answer_bytes, cost.answer_bytes);
    most.cpu_ms = std::max(most.cpu_ms, cost.cpu_ms);
    most.extra_bytes = std::max(most.extra_bytes, cost.extra_bytes);
  }
  Add("limits/wrong", most, report);
  return {};
}

}  // namespace bench
