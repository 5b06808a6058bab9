#include "bench/workloads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
#include <utility>

#include "apiserver/base/sync.h"
#include "bench/audit_folder.h"
#include "bench/chain_workload.h"
#include "bench/closed_loop.h"
#include "bench/corpus.h"
#include "bench/crd_workload.h"
#include "bench/etcd_workloads.h"
#include "bench/floor_workloads.h"
#include "bench/form_workloads.h"
#include "bench/limit_workloads.h"
#include "bench/list_workloads.h"
#include "bench/rbac_workload.h"
#include "bench/routes_workload.h"
#include "bench/series.h"
#include "bench/update_workloads.h"

namespace bench {

namespace {

using apiserver::Context;
using apiserver::Reason;
using apiserver::Result;
using apiserver::Status;
using apiserver::http::ClientRequest;

Status RunW1(ServerUnderTest& server, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  if (Status filled = Populate(*dialer, server, 100); !filled.ok()) return filled;
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), 32));
  Series series("W1", server);
  const Status ran = series.Run(connections, [](int) { return CachedGets(); });
  if (ran.ok()) series.AddTo(report);
  return ran;
}

Status RunW3(ServerUnderTest& server, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  if (Status filled = Populate(*dialer, server, 10'000); !filled.ok()) return filled;
  BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), 4));
  Series series("W3", server);
  const std::string target = std::string(kGroup) + "/flunders?resourceVersion=0";
  const Status ran = series.Run(connections, [&target](int) {
    return LoopOptions{.streams = 1, .operations = 40, .request = [&target](std::size_t) {
                         return ClientRequest{.target = target};
                       }};
  });
  if (ran.ok()) series.AddTo(report);
  return ran;
}

Status RunW8(ServerUnderTest& server, Report& report) {
  struct Variant {
    const char* name;
    std::size_t connections;
    std::size_t streams;
    std::size_t operations;
  };
  for (const Variant& variant :
       {Variant{"W8/c1", 1, 1, 2'000}, {"W8", 4, 8, 20'000}, {"W8/c256", 8, 32, 20'000}}) {
    const auto dialer = apiserver::http::NewDialer();
    BENCH_ASSIGN(connections, DialMany(*dialer, server.dial(), variant.connections));
    Series series(variant.name, server);
    const Status ran = series.Run(connections, [&variant](int run) {
      const std::string prefix = "c" + std::to_string(variant.streams * variant.connections) +
                                 "-r" + std::to_string(run) + "-";
      return LoopOptions{
          .streams = variant.streams,
          .operations = variant.operations,
          .expected_code = 201,
          .request = [prefix](std::size_t n) { return Post(prefix + std::to_string(n), n); }};
    });
    if (!ran.ok()) return ran;
    series.AddTo(report);
  }
  return {};
}

// Counts the events of one watch: each ends with a newline, and no text holds one.
class CountingWatch final : public apiserver::http::StreamObserver {
 public:
  explicit CountingWatch(std::atomic<std::size_t>& events) : events_(events) {}
  void OnHead(const apiserver::http::ResponseHead&) override { open_ = true; }
  void OnData(std::string_view bytes) override {
    std::size_t lines = 0;
    for (const char c : bytes) lines += c == '\n' ? 1 : 0;
    events_ += lines;
  }
  void OnEnd(const Status&) override {}
  bool open() const { return open_; }

 private:
  std::atomic<std::size_t>& events_;
  std::atomic<bool> open_ = false;
};

bool WaitFor(const std::function<bool()>& condition) {
  for (int tries = 0; tries < 60'000; ++tries) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

struct FanOut {
  const char* name;
  std::size_t connections;
  std::size_t watches;  // On each connection.
  std::size_t writes;
};

// Watches that are open, and what they have received.
struct OpenWatches {
  Connections connections;
  std::vector<std::shared_ptr<CountingWatch>> watches;
  std::shared_ptr<std::atomic<std::size_t>> events = std::make_shared<std::atomic<std::size_t>>(0);

  bool AllOpen() const {
    return std::all_of(watches.begin(), watches.end(),
                       [](const auto& watch) { return watch->open(); });
  }
};

Result<std::string> CurrentRevision(apiserver::http::Connection& connection) {
  BENCH_ASSIGN(now, connection.Call(Context::Background(),
                                    {.target = std::string(kGroup) + "/flunders?limit=1"}));
  const std::string key = "\"resourceVersion\":\"";
  const std::size_t begin = now.body.find(key) + key.size();
  return now.body.substr(begin, now.body.find('"', begin) - begin);
}

Result<OpenWatches> Open(apiserver::http::Dialer& dialer, const ServerUnderTest& server,
                         const FanOut& variant) {
  OpenWatches open;
  BENCH_ASSIGN(connections, DialMany(dialer, server.dial(), variant.connections));
  open.connections = std::move(connections);
  BENCH_ASSIGN(revision, CurrentRevision(*open.connections[0]));
  const std::string target =
      std::string(kGroup) +
      "/flunders?watch=1&allowWatchBookmarks=true&resourceVersion=" + revision;
  for (const auto& connection : open.connections) {
    for (std::size_t i = 0; i < variant.watches; ++i) {
      open.watches.push_back(std::make_shared<CountingWatch>(*open.events));
      BENCH_ASSIGN(cancel, connection->Observe({.target = target}, open.watches.back()));
      (void)cancel;
    }
  }
  if (!WaitFor([&open] { return open.AllOpen(); })) {
    return Status(Reason::kTimeout, "the watches did not open");
  }
  return open;
}

Status RunFanOut(ServerUnderTest& server, const FanOut& variant, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  BENCH_ASSIGN(open, Open(*dialer, server, variant));
  BENCH_ASSIGN(writers, DialMany(*dialer, server.dial(), 1));
  std::vector<double> per_core;
  std::vector<double> per_second;
  for (int run = 0; run < kRuns; ++run) {
    const std::size_t expected = *open.events + variant.writes * open.watches.size();
    const double cpu = server.CpuSeconds();
    const auto started = std::chrono::steady_clock::now();
    const std::string prefix =
        "w" + std::to_string(variant.connections) + "-" + std::to_string(run) + "-";
    BENCH_ASSIGN(written, RunClosedLoop(writers, {.streams = 4,
                                                  .operations = variant.writes,
                                                  .expected_code = 201,
                                                  .request = [&prefix](std::size_t n) {
                                                    return Post(prefix + std::to_string(n), n);
                                                  }}));
    (void)written;
    if (!WaitFor([&] { return *open.events >= expected; }) || *open.events != expected) {
      return {Reason::kInternalError, "events were lost or came twice"};
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
    const auto deliveries = static_cast<double>(variant.writes * open.watches.size());
    per_second.push_back(deliveries / seconds);
    if (server.has_process()) per_core.push_back(deliveries / (server.CpuSeconds() - cpu));
  }
  if (server.has_process()) {
    report.Add({variant.name, "deliveries_per_s_per_core", Median(per_core), "1/s"});
    report.Add({variant.name, "rss_bytes", server.RssBytes(), "bytes"});
  }
  report.Add({variant.name, "throughput_per_s", Median(per_second), "1/s"});
  return {};
}

// The memory of idle watches, as `name`.
Status RunIdle(ServerUnderTest& server, const char* name, Report& report) {
  const auto dialer = apiserver::http::NewDialer();
  const double rss = server.RssBytes();
  const std::size_t threads = server.Threads();
  const FanOut variant{name, 100, 100, 0};
  BENCH_ASSIGN(open, Open(*dialer, server, variant));
  const auto watches = static_cast<double>(open.watches.size());
  report.Add({variant.name, "bytes_per_watch", (server.RssBytes() - rss) / watches, "bytes"});
  report.Add({variant.name, "threads_before", static_cast<double>(threads), "threads"});
  report.Add({variant.name, "threads_with", static_cast<double>(server.Threads()), "threads"});
  return {};
}

Status RunW11(ServerUnderTest& server, Report& report) { return RunIdle(server, "W11", report); }

Status RunW11Audited(const StartServer& start, Report& report) {
  BENCH_ASSIGN(audit, AuditFolder::New());
  BENCH_ASSIGN(server, start(audit->Flags()));
  if (Status ran = RunIdle(*server, "W11/audit", report); !ran.ok()) return ran;
  // The watches may have ended by now, and their ends fill the end of the log.
  if (audit->Recorded(R"("verb":"watch")")) return {};
  return {Reason::kInternalError, "the audit log does not show the watches"};
}

Status RunW10(ServerUnderTest& server, Report& report) {
  const Status shared = RunFanOut(server, {"W10", 10, 100, 300}, report);
  if (!shared.ok()) return shared;
  return RunFanOut(server, {"W10/conn1", 200, 1, 300}, report);
}

constexpr Workload kWorkloads[] = {
    {"W1", "memory", "GET of 1 KiB from the cache, 32 connections x 10 streams", &RunW1},
    {"W1/chain", "memory", "W1 with the whole chain on, beside W1 with as little as possible",
     nullptr, nullptr, &RunChain},
    {"W2", "etcd", "GET of the newest 1 KiB over etcd, 32 connections x 10 streams", &RunW2},
    {"W3", "memory", "LIST of 10,000 x 1 KiB from the cache, 4 connections", &RunW3},
    {"W4", "memory", "LIST of 10,000 x 1 KiB as Table, YAML, pretty, partial; a canary beside each",
     &RunW4},
    {"W4/protobuf", "memory", "the same as protobuf, of roles", nullptr, nullptr, &RunW4Protobuf},
    {"W5", "memory", "LIST of 1,000 of 100,000 by label", &RunW5},
    {"W6", "memory", "pages of 500 of 100,000 and of 10,000, 4 walkers", &RunW6},
    {"W7", "etcd", "creates of 1 KiB over etcd by 32 writers, then updates", &RunW7},
    {"W13", "rocks", "start with 100,000 x 1 KiB; memory before and after", &RunW13},
    {"W13/etcd", "etcd", "the same over etcd", &RunW13OverEtcd},
    {"W8", "rocks", "durable creates of 1 KiB by 1, 32 and 256 writers", &RunW8},
    {"W9", "memory", "updates of 16 KiB by 32 writers: PUT, patches, apply by two managers",
     &RunW9},
    {"W14", "rocks", "1,000 CustomResourceDefinitions, and small kinds beside them", &RunW14On,
     nullptr, &RunW14, true},
    {"W14/10k", "rocks", "10,000 of them", &RunW14LargeOn, nullptr, &RunW14Large, true},
    {"limits", "memory", "large bodies that are made to cost much, one at a time", &RunLimits},
    {"W16a", "", "RBAC decisions in process: 10,000 bindings, 10,000 rules, 1,000 users", nullptr,
     &RunRbac},
    {"routes", "memory", "1,000 resources that come and go in a server of this process", nullptr,
     &RunRoutes},
    {"W11", "memory", "10,000 idle watches, 100 a connection", &RunW11},
    {"W11/audit", "memory", "the same with an audit log at Metadata", nullptr, nullptr,
     &RunW11Audited},
    {"W10", "memory", "events to 1,000 watches, 100 a connection", &RunW10},
    {"floor/http", "", "a file of 1 KiB from nghttpd, by W1's driver", nullptr, &RunHttpFloor},
    {"floor/etcd", "", "puts of 1 KiB into etcd by h2load, 32 at once", nullptr, &RunEtcdFloor},
    {"floor/rocks", "", "synced puts of 1 KiB into RocksDB by 1, 32 and 256 threads", nullptr,
     &RunRocksFloor},
};

}  // namespace

const Workload* FindWorkload(std::string_view name) {
  for (const Workload& workload : kWorkloads) {
    if (workload.name == name) return &workload;
  }
  return nullptr;
}

std::string WorkloadNames() {
  std::string names;
  for (const Workload& workload : kWorkloads) {
    names += "  " + std::string(workload.name) + "  " + std::string(workload.what) + "\n";
  }
  return names;
}

}  // namespace bench
