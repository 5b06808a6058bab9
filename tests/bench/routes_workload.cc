#include "bench/routes_workload.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apiserver/base/sync.h"
#include "apiserver/registry/store.h"
#include "apiserver/testing/server/test_server.h"
#include "bench/corpus.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Guarded;
using apiserver::Reason;
using apiserver::Status;
using apiserver::Thread;
using apiserver::testing::TestServer;
namespace http = apiserver::http;
namespace registry = apiserver::registry;
namespace rest = apiserver::rest;
namespace runtime = apiserver::runtime;

constexpr int kResources = 1'000;
constexpr int kClients = 50;
constexpr int kWrites = 2'000;
// Leaks of several turns add up to more than what differs from turn to turn.
constexpr int kTurns = 5;
// How often they come and go under clients, of which the last time is measured.
constexpr int kBusyTimes = 8;
constexpr auto kReading = std::chrono::seconds(2);
constexpr char kVersion[] = "/apis/things.example.com/v1";

class Strategy final : public rest::Strategy {
 public:
  bool NamespaceScoped() const override { return true; }
  apiserver::field::ErrorList Validate(const Context&, const runtime::Object&) const override {
    return {};
  }
};

std::string NameOf(int number) { return "things" + std::to_string(number); }

runtime::KindPtr KindOf(int number) {
  const std::string suffix = std::to_string(number);
  const auto spec = runtime::StructBuilder("com.example.things.v1.Thing" + suffix + "Spec")
                        .Field("size", runtime::IntegerSchema(32))
                        .Field("color", runtime::StringSchema())
                        .Build();
  const auto schema = runtime::StructBuilder("com.example.things.v1.Thing" + suffix)
                          .Field("metadata", runtime::ObjectMetaSchema())
                          .Field("spec", spec)
                          .Build();
  return runtime::Kind::New({.group = "things.example.com",
                             .kind = "Thing" + suffix,
                             .plural = NameOf(number),
                             .versions = {{.version = "v1", .schema = schema}}})
      .value();
}

std::string PathOf(int number) {
  return std::string(kVersion) + "/namespaces/default/" + NameOf(number);
}

std::string Thing(int number, int name) {
  return R"({"apiVersion":"things.example.com/v1","kind":"Thing)" + std::to_string(number) +
         R"(","metadata":{"name":"a)" + std::to_string(name) + R"("},"spec":{"size":3}})";
}

double Microseconds(std::chrono::steady_clock::duration took) {
  return std::chrono::duration<double, std::micro>(took).count();
}

// With its store, and all that is made when it is first served.
Status AddOne(TestServer& server, const runtime::KindPtr& kind, int number) {
  BENCH_ASSIGN(store,
               registry::NewStore({.engine = &server.engine(), .executor = &server.server().pool()},
                                  {.kind = kind, .strategy = std::make_shared<Strategy>()}));
  const std::shared_ptr<rest::Storage> storage = std::move(store);
  return server.server().InstallAPIResource(
      {{"things.example.com", "v1", NameOf(number)}, {{NameOf(number), storage}}});
}

// Where the requests of one turn of a client go.
using Targets = std::vector<std::string> (*)(int resource);

std::vector<std::string> ListAndWatch(int resource) {
  return {PathOf(resource), PathOf(resource) + "?watch=1&timeoutSeconds=1"};
}

std::vector<std::string> Get(int /*resource*/) { return {PathOf(0) + "/a0"}; }

// Clients with a connection and a thread each, which send requests until they are dropped.
class Clients {
 public:
  Clients(TestServer& server, Targets targets) : server_(server), targets_(targets) {
    for (int i = 0; i < kClients; ++i) {
      threads_.emplace_back("client", [this, i] { Run(i); });
    }
  }
  ~Clients() { Stop(); }
  void Stop() {
    over_ = true;
    threads_.clear();
  }
  int requests() const { return requests_; }
  // The first answer that was neither the resource nor 404.
  std::string wrong() const { return *wrong_.Lock(); }

 private:
  void Run(int n) {
    const auto connection = server_.server().LoopbackConnection();
    for (; !over_; n = (n + 7) % kResources) {
      for (const std::string& target : targets_(n)) {
        const auto got = connection->Call(Context::Background(), {.target = target});
        ++requests_;
        if (got.ok() && (got->code == 200 || got->code == 404)) continue;
        *wrong_.Lock() = target + ": " + (got.ok() ? got->body : got.status().ToString());
      }
    }
  }

  TestServer& server_;
  const Targets targets_;
  std::atomic<bool> over_ = false;
  std::atomic<int> requests_ = 0;
  Guarded<std::string> wrong_;
  std::vector<Thread> threads_;
};

// The median of some writes of one resource, one after another.
apiserver::Result<double> WriteMicroseconds(TestServer& server, int first) {
  std::vector<double> took;
  for (int i = 0; i < kWrites; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    const auto got = server.Call("POST", PathOf(0), Thing(0, first + i));
    took.push_back(Microseconds(std::chrono::steady_clock::now() - begun));
    if (got.code != 201) return Status(Reason::kInternalError, got.body);
  }
  return Median(std::move(took));
}

struct Times {
  std::vector<double> add_us;
  std::vector<double> remove_us;
};

apiserver::Result<Times> ComeAndGo(TestServer& server, const std::vector<runtime::KindPtr>& kinds,
                                   double* write_us) {
  Times times;
  for (int n = 1; n < kResources; ++n) {
    const auto begun = std::chrono::steady_clock::now();
    const Status added = AddOne(server, kinds[n], n);
    times.add_us.push_back(Microseconds(std::chrono::steady_clock::now() - begun));
    if (!added.ok()) return added;
  }
  if (write_us) {
    BENCH_ASSIGN(beside, WriteMicroseconds(server, kWrites));
    *write_us = beside;
  }
  for (int n = 1; n < kResources; ++n) {
    const auto begun = std::chrono::steady_clock::now();
    const Status removed =
        server.server().RemoveAPIResource({"things.example.com", "v1", NameOf(n)});
    times.remove_us.push_back(Microseconds(std::chrono::steady_clock::now() - begun));
    if (!removed.ok()) return removed;
  }
  return times;
}

// Returns the bytes that are allocated once nothing changes any more. What belongs to a removed
// resource is freed on the pool, after the removal has returned; the pool's threads end when they
// have been idle for ten seconds, and with them what malloc keeps for each, which counts here.
double AllocatedBytes() {
  constexpr int kSame = 5;
  constexpr int kLooks = 100;
  std::this_thread::sleep_for(std::chrono::seconds(11));
  std::size_t last = 0;
  for (int same = 0, looks = 0; same < kSame && looks < kLooks; ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    malloc_trim(0);
    const std::size_t now = mallinfo2().uordblks;
    same = now == last ? same + 1 : 0;
    last = now;
  }
  return static_cast<double>(last);
}

void AddTimes(const std::string& name, const Times& times, Report& report) {
  const auto& add = times.add_us;
  report.Add({name, "add_us_early", Median({add.begin() + 5, add.begin() + 25}), "us"});
  report.Add({name, "add_us_late", Median({add.end() - 20, add.end()}), "us"});
  report.Add({name, "add_us_p99", Percentile(add, 0.99), "us"});
  report.Add({name, "remove_us_p99", Percentile(times.remove_us, 0.99), "us"});
}

// Returns how many lines /metrics has.
double MetricSeries(TestServer& server) {
  const std::string text = server.Call("GET", "/metrics").body;
  return static_cast<double>(std::count(text.begin(), text.end(), '\n'));
}

// Resources that come and go while clients list and watch them.
Status RunBusy(TestServer& server, const std::vector<runtime::KindPtr>& kinds, Report& report) {
  double before = 0;
  double series = 0;
  // The first times leave behind what connections keep, and metrics of each resource, verb and
  // code: as in Go, those of a removed resource stay.
  for (int time = 1; time <= kBusyTimes; ++time) {
    const bool measured = time == kBusyTimes;
    if (measured) {
      series = MetricSeries(server);
      before = AllocatedBytes();
    }
    Clients clients(server, ListAndWatch);
    const auto begun = std::chrono::steady_clock::now();
    Times times;
    int turns = 0;
    for (; std::chrono::steady_clock::now() - begun < kReading; ++turns) {
      BENCH_ASSIGN(busy, ComeAndGo(server, kinds, nullptr));
      times = std::move(busy);
    }
    const auto took = std::chrono::steady_clock::now() - begun;
    clients.Stop();
    if (!clients.wrong().empty()) return {Reason::kInternalError, clients.wrong()};
    if (!measured) continue;
    AddTimes("routes/50 clients", times, report);
    report.Add({"routes/50 clients", "come_and_go_us", Microseconds(took) / turns, "us"});
    report.Add({"routes/50 clients", "requests", static_cast<double>(clients.requests()), ""});
  }
  report.Add({"routes/50 clients", "allocated_bytes_before", before, "bytes"});
  report.Add({"routes/50 clients", "allocated_bytes_after", AllocatedBytes(), "bytes"});
  report.Add({"routes/50 clients", "metric_series_before", series, ""});
  report.Add({"routes/50 clients", "metric_series_after", MetricSeries(server), ""});
  return {};
}

}  // namespace

Status RunRoutes(Report& report) {
  BENCH_ASSIGN(server, apiserver::testing::StartTestServer({}));
  std::vector<runtime::KindPtr> kinds;
  for (int n = 0; n < kResources; ++n) kinds.push_back(KindOf(n));
  const Status first = AddOne(*server, kinds[0], 0);
  if (!first.ok()) return first;
  // What is kept of the first time, threads and buffers, is no leak.
  BENCH_ASSIGN(warm, ComeAndGo(*server, kinds, nullptr));
  (void)warm;

  const double before = AllocatedBytes();
  for (int turn = 1; turn <= kTurns; ++turn) {
    BENCH_ASSIGN(quiet, ComeAndGo(*server, kinds, nullptr));
    if (turn == 1) AddTimes("routes/quiet", quiet, report);
  }
  report.Add({"routes/quiet", "allocated_bytes_before", before, "bytes"});
  report.Add({"routes/quiet", "allocated_bytes_after_" + std::to_string(kTurns) + "_turns",
              AllocatedBytes(), "bytes"});

  BENCH_ASSIGN(alone_us, WriteMicroseconds(*server, 0));
  double beside_us = 0;
  BENCH_ASSIGN(written, ComeAndGo(*server, kinds, &beside_us));
  (void)written;
  report.Add({"routes/writes", "write_us_alone", alone_us, "us"});
  report.Add({"routes/writes", "write_us_beside_999", beside_us, "us"});

  if (const Status busy = RunBusy(*server, kinds, report); !busy.ok()) return busy;

  Clients readers(*server, Get);
  std::this_thread::sleep_for(kReading);
  const double seconds = std::chrono::duration<double>(kReading).count();
  report.Add({"routes/50 readers", "requests_per_s", readers.requests() / seconds, ""});
  if (!readers.wrong().empty()) return {Reason::kInternalError, readers.wrong()};
  return {};
}

}  // namespace bench
