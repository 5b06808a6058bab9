#include "bench/form_workloads.h"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/closed_loop.h"
#include "bench/corpus.h"
#include "bench/series.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Status;
using apiserver::http::ClientRequest;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kObjects = 10'000;
constexpr std::size_t kLists = 5;  // A run.
constexpr char kRbacApi[] = "/apis/rbac.authorization.k8s.io/v1";

struct Form {
  const char* name;
  const char* accept;
  const char* query = "";
};

// Measures how long a GET takes, one after another, until it is stopped.
class Canary {
 public:
  Canary(apiserver::http::Connection& connection, std::string target)
      : thread_([this, &connection, target = std::move(target)] {
          while (!stop_) {
            const auto begun = Clock::now();
            const auto got = connection.Call(Context::Background(), {.target = target});
            const auto took = std::chrono::duration<double, std::micro>(Clock::now() - begun);
            if (got.ok() && got->code == 200) latencies_us_.push_back(took.count());
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
          }
        }) {}
  ~Canary() { Stop(); }
  // What it measured, in microseconds.
  const std::vector<double>& Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    return latencies_us_;
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<double> latencies_us_;
  std::thread thread_;
};

struct Place {
  std::string collection;  // Of all namespaces.
  std::string object;
};

Status RunForm(ServerUnderTest& server, const Form& form, const Place& place, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), 1));
  const auto other = apiserver::http::NewDialer();
  BENCH_ASSIGN(alone, DialMany(*other, server.dial(), 1));
  const ClientRequest request{.target = place.collection + form.query,
                              .headers = {{"Accept", form.accept}}};
  const LoopOptions lists{.operations = kLists,
                          .request = [&request](std::size_t) { return request; }};
  // The first one makes what the others use.
  BENCH_ASSIGN(first, RunClosedLoop(connections, lists));
  (void)first;
  Series series(form.name, server);
  const Status ran = series.Run(connections, [&lists](int) { return lists; });
  if (!ran.ok()) return ran;
  series.AddTo(report);

  Canary canary(*alone[0], place.object);
  BENCH_ASSIGN(beside, RunClosedLoop(connections, lists));
  (void)beside;
  report.Add({form.name, "canary_p99_us", Percentile(canary.Stop(), 0.99), "us"});
  return {};
}

ClientRequest PostRole(std::size_t n) {
  const std::string name = "o-" + std::to_string(n);
  return {.method = "POST",
          .target = std::string(kRbacApi) + "/namespaces/" + NamespaceOf(n) + "/roles",
          .headers = {{"Content-Type", "application/json"}},
          .body = R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"Role","metadata":{)"
                  R"("name":")" +
                  name + R"(","annotations":{"fill":")" + std::string(600, 'x') +
                  R"("}},"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]})"};
}

}  // namespace

Status RunW4(ServerUnderTest& server, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  if (Status filled = Populate(*dialer, server, kObjects); !filled.ok()) return filled;
  const Place place{std::string(kGroup) + "/flunders", CollectionOf(NamespaceOf(1)) + "/o-1"};
  for (const Form& form :
       {Form{"W4/table", "application/json;as=Table;v=v1;g=meta.k8s.io"},
        {"W4/partial", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"},
        {"W4/partial-protobuf",
         "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"},
        {"W4/pretty", "application/json", "?pretty=true"},
        {"W4/yaml", "application/yaml"}}) {
    if (Status ran = RunForm(server, form, place, report); !ran.ok()) return ran;
  }
  return {};
}

Status RunW4Protobuf(const StartServer& start, Report& report) {
  BENCH_ASSIGN(server, start({"--authorization-mode=RBAC"}));
  const auto dialer = apiserver::http::NewDialer();
  BENCH_ASSIGN(connections, DialMany(*dialer, server->dial(), 4));
  BENCH_ASSIGN(filled, RunClosedLoop(connections, {.streams = 8,
                                                   .operations = kObjects,
                                                   .expected_code = 201,
                                                   .request = &PostRole}));
  (void)filled;
  const Place place{std::string(kRbacApi) + "/roles",
                    std::string(kRbacApi) + "/namespaces/" + NamespaceOf(1) + "/roles/o-1"};
  return RunForm(*server, {"W4/protobuf", "application/vnd.kubernetes.protobuf"}, place, report);
}

}  // namespace bench
