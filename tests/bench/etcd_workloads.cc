#include "bench/etcd_workloads.h"

#include <string>
#include <vector>

#include "bench/closed_loop.h"
#include "bench/corpus.h"
#include "bench/series.h"

namespace bench {

namespace {

using apiserver::Status;
using apiserver::http::ClientRequest;

constexpr std::size_t kGets = 50'000;
constexpr std::size_t kWrites = 10'000;

}  // namespace

Status RunW2(ServerUnderTest& server, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  if (Status filled = Populate(*dialer, server, 100); !filled.ok()) return filled;
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), 32));
  Series series("W2", server);
  const std::string target = CollectionOf(NamespaceOf(7)) + "/o-7";
  double before = 0;
  if (server.has_etcd()) {
    BENCH_ASSIGN(calls, server.EtcdCalls());
    before = calls;
  }
  const Status ran = series.Run(connections, [&target](int) {
    return LoopOptions{.streams = 10, .operations = kGets, .request = [&target](std::size_t) {
                         return ClientRequest{.target = target};
                       }};
  });
  if (!ran.ok()) return ran;
  series.AddTo(report);
  if (server.has_etcd()) {
    BENCH_ASSIGN(calls, server.EtcdCalls());
    report.Add({"W2", "etcd_calls_per_get", (calls - before) / (kGets * kRuns), "calls"});
  }
  return {};
}

Status RunW7(ServerUnderTest& server, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), 4));
  const auto name_of = [](int run, std::size_t n) {
    return "r" + std::to_string(run) + "-" + std::to_string(n);
  };
  Series creates("W7", server);
  const Status created = creates.Run(connections, [&name_of](int run) {
    return LoopOptions{
        .streams = 8,
        .operations = kWrites,
        .expected_code = 201,
        .request = [name_of, run](std::size_t n) { return Post(name_of(run, n), n); }};
  });
  if (!created.ok()) return created;
  creates.AddTo(report);

  Series updates("W7/update", server);
  const Status updated = updates.Run(connections, [&name_of](int run) {
    return LoopOptions{
        .streams = 8, .operations = kWrites, .request = [name_of, run](std::size_t n) {
          return ClientRequest{.method = "PATCH",
                               .target = CollectionOf(NamespaceOf(n)) + "/" + name_of(run, n),
                               .headers = {{"Content-Type", "application/merge-patch+json"}},
                               .body = R"({"metadata":{"labels":{"tier":"other"}}})"};
        }};
  });
  if (updated.ok()) updates.AddTo(report);
  return updated;
}

}  // namespace bench
